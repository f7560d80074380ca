// go_client PORT RESP - every BF method of go-redis, on a server with the module.
//
// Run by go_redis_long.py, for protocol 2 and 3.  Each method is used as the documentation of
// go-redis does, and the checks are on what it returns.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()
var db *redis.Client

func equal(got, want any) {
	if !reflect.DeepEqual(got, want) {
		panic(fmt.Sprintf("%#v instead of %#v", got, want))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func fails(err error, text string) {
	if err == nil || !strings.Contains(err.Error(), text) {
		panic(fmt.Sprintf("%v instead of %s", err, text))
	}
}

func makesAndAdds() {
	equal(must(db.BFReserve(ctx, "plain", 0.01, 1000).Result()), "OK")
	equal(must(db.BFReserveExpansion(ctx, "grows", 0.01, 1000, 4).Result()), "OK")
	equal(must(db.BFReserveNonScaling(ctx, "fixed", 0.01, 2).Result()), "OK")
	equal(must(db.BFReserveWithArgs(ctx, "args", &redis.BFReserveOptions{
		Capacity: 100, Error: 0.001, Expansion: 3}).Result()), "OK")
	equal(must(db.BFAdd(ctx, "plain", "foo").Result()), true)
	equal(must(db.BFAdd(ctx, "plain", "foo").Result()), false)
	equal(must(db.BFMAdd(ctx, "plain", "foo", "bar", "baz").Result()), []bool{false, true, true})
	equal(must(db.BFInsert(ctx, "sized", &redis.BFInsertOptions{
		Capacity: 1000, Error: 0.001, Expansion: 8}, "a", "b").Result()), []bool{true, true})
	equal(must(db.BFInsert(ctx, "sized", &redis.BFInsertOptions{NoCreate: true},
		"a", "c").Result()), []bool{false, true})
	equal(must(db.BFInsert(ctx, "still", &redis.BFInsertOptions{
		Capacity: 10, NonScaling: true}, "1").Result()), []bool{true})
}

func answers() {
	equal(must(db.BFExists(ctx, "plain", "foo").Result()), true)
	equal(must(db.BFExists(ctx, "plain", "never").Result()), false)
	equal(must(db.BFExists(ctx, "nobody", "foo").Result()), false)
	equal(must(db.BFMExists(ctx, "plain", "foo", "never", "baz").Result()),
		[]bool{true, false, true})
	equal(must(db.BFCard(ctx, "plain").Result()), int64(3))
	equal(must(db.BFCard(ctx, "nobody").Result()), int64(0))
}

func informs() {
	info := must(db.BFInfo(ctx, "plain").Result())
	equal([]int64{info.Capacity, info.Filters, info.ItemsInserted, info.ExpansionRate},
		[]int64{1000, 1, 3, 2})
	equal(info.Size > 1000, true)
	equal(must(db.BFInfo(ctx, "sized").Result()).ExpansionRate, int64(8))
	equal(must(db.BFInfoCapacity(ctx, "plain").Result()).Capacity, int64(1000))
	equal(must(db.BFInfoSize(ctx, "plain").Result()).Size, info.Size)
	equal(must(db.BFInfoFilters(ctx, "plain").Result()).Filters, int64(1))
	equal(must(db.BFInfoItems(ctx, "plain").Result()).ItemsInserted, int64(3))
	equal(must(db.BFInfoExpansion(ctx, "grows").Result()).ExpansionRate, int64(4))
	equal(must(db.BFInfoArg(ctx, "args", "EXPANSION").Result()).ExpansionRate, int64(3))
}

func dumpsAndLoads() {
	items := make([]any, 3000)
	for i := range items {
		items[i] = "item " + strconv.Itoa(i)
	}
	must(db.BFMAdd(ctx, "grows", items...).Result())
	chunks := 0
	for at := int64(0); ; chunks++ {
		chunk := must(db.BFScanDump(ctx, "grows", at).Result())
		if at = chunk.Iter; at == 0 {
			break
		}
		equal(must(db.BFLoadChunk(ctx, "loaded", at, chunk.Data).Result()), "OK")
	}
	equal(chunks > 1, true)
	for _, found := range must(db.BFMExists(ctx, "loaded", items...).Result()) {
		equal(found, true)
	}
	equal(must(db.BFInfo(ctx, "loaded").Result()), must(db.BFInfo(ctx, "grows").Result()))
}

func refuses() {
	fails(db.BFReserve(ctx, "plain", 0.01, 1000).Err(), "item exists")
	fails(db.BFReserve(ctx, "x", 2, 1000).Err(), "error rate must be in the range")
	fails(db.BFReserve(ctx, "x", 0.01, 0).Err(), "capacity must be in the range")
	fails(db.BFReserveExpansion(ctx, "x", 0.01, 9, 99999).Err(),
		"ERR expansion must be in the range [0, 32768]")
	fails(db.BFInfo(ctx, "nobody").Err(), "not found")
	fails(db.BFInsert(ctx, "nobody", &redis.BFInsertOptions{NoCreate: true}, "a").Err(), "not found")
	must(db.BFMAdd(ctx, "fixed", "a", "b").Result())
	fails(db.BFAdd(ctx, "fixed", "c").Err(), "non scaling filter is full")
	must(db.Set(ctx, "text", "x", 0).Result())
	fails(db.BFAdd(ctx, "text", "a").Err(), "WRONGTYPE")
}

func main() {
	protocol := must(strconv.Atoi(os.Args[2]))
	db = redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol})
	must(db.FlushAll(ctx).Result())
	makesAndAdds()
	answers()
	informs()
	dumpsAndLoads()
	refuses()
	fmt.Println("ok RESP" + os.Args[2])
}
