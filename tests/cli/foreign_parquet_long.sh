# Parquet: deja reads the Bloom filters in files that pyarrow and DuckDB wrote, with the same false
# positives as DuckDB, and writes the same blocks as pyarrow.
. "$SUPPORT/cases.sh"

python3 -m venv "$PWD/venv" >venv.log 2>&1 || skip "python3 -m venv does not work here (Debian: python3-venv)"
"$PWD/venv/bin/pip" -q install pyarrow duckdb >pip.log 2>&1 || skip "the registry of Python packages has no pyarrow here"
python=$PWD/venv/bin/python
"$python" - <<'END' || skip "this pyarrow writes no Bloom filters"
import pyarrow.parquet as pq
assert "bloom_filter_options" in pq.write_table.__doc__
END

_lists() {
    deja gen -q -n 100000 >present
    deja gen -q -n 100000 --first 100000 >absent
}

# FILE COLUMN: the lines of `absent` that DuckDB cannot exclude.
_probe() {
    "$python" - "$1" "$2" <<'END'
import sys
import duckdb

connection = duckdb.connect()
with open("absent", encoding="utf8") as lines:
    for line in list(lines)[:20000]:
        key = line[:-1].replace("'", "''")
        excluded, = connection.execute(
            f"SELECT bool_and(bloom_filter_excludes) FROM parquet_bloom_probe('{sys.argv[1]}', '{sys.argv[2]}', '{key}')").fetchone()
        if not excluded:
            sys.stdout.write(line)
END
}

_compare() { # FILE COLUMN
    deja check -q --filter-column "$2" "$1" present >got
    expect_same got present
    _probe "$1" "$2" >expected
    [ "$(wc -l <expected)" -gt 20 ] || fail "too few false positives to compare"
    head -n 20000 absent | deja check -q --filter-column "$2" "$1" >got
    expect_same got expected
}

files_of_pyarrow() {
    _lists
    "$python" - <<'END'
import pyarrow
import pyarrow.parquet as pq

with open("present", encoding="utf8") as lines:
    keys = [line[:-1] for line in lines]
table = pyarrow.table({"id": list(range(len(keys))), "url": keys})
pq.write_table(table, "one.parquet", row_group_size=1000000,
               bloom_filter_options={"url": {"ndv": 100000, "fpp": 0.05}, "id": True})
pq.write_table(table, "ten.parquet", row_group_size=10000,
               bloom_filter_options={"url": {"ndv": 10000, "fpp": 0.01}})
with open("offset", "w") as out:
    column = pq.read_metadata("one.parquet").row_group(0).column(1)
    out.write(f"{column.bloom_filter_offset} {column.bloom_filter_length}")
END
    _compare one.parquet url
    _compare ten.parquet url
    read -r at len <offset || true
    tail -c +$((at + 1)) one.parquet | head -c "$len" >theirs
    deja build -q --format sbbf -n 100000 -p 0.05 ours present
    expect_same ours theirs
}

# DuckDB writes filters for columns with a dictionary only.
files_of_duckdb() {
    _lists
    "$python" - <<'END'
import duckdb

duckdb.connect().execute("""
    COPY (SELECT column0 AS url FROM read_csv('present', header=false, sep='\t', quote='', escape='',
          columns={'column0': 'VARCHAR'}))
    TO 'duck.parquet' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 1000000, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.05,
                       ROW_GROUP_SIZE 20480)""")
END
    _compare duck.parquet url
}

cases "$@"
