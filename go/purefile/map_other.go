//go:build !unix

package purefile

import (
	"errors"
	"os"
)

func mapFile(*os.File, int) ([]byte, func() error, error) {
	return nil, nil, errors.New("this system has no syscall.Mmap")
}
