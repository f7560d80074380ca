//go:build unix

package purefile

import (
	"os"
	"syscall"
)

func mapFile(file *os.File, size int) ([]byte, func() error, error) {
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return data, func() error { return syscall.Munmap(data) }, err
}
