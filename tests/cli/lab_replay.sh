# deja lab replay: what a crawl misses, on generated sites and on given links.
. "$SUPPORT/cases.sh"

# _cell FILE ROW COLUMN FIELD: a field of the table `missed` or `cost`.
_cell() {
    python3 - "$@" <<'PY'
import csv, sys
path, row, column, field = sys.argv[1:]
print(*[r[field] for r in csv.DictReader(open(path)) if (r["row"], r["column"]) == (row, column)])
PY
}

# A chain loses everything after its first lost page; a star loses single pages.
links_decide_what_is_lost() {
    seq 1 3000 | awk '{ print "http://a.example/" $1 - 1 "\thttp://a.example/" $1 }' >chain
    seq 1 3000 | awk '{ print "http://a.example/\thttp://a.example/" $1 }' >star
    local name
    for name in chain star; do
        succeeds deja lab replay -q -n 1k --runs 3 --graph $name -o "$name.lab"
        grep -qF "The site: $name, 3001 pages in reach, 3001 links" "$name.lab/index.html" ||
            fail "no links of $name"
    done
    [ "$(_cell star.lab/replay.csv "classic, p = 0.1" "missed for each" mean)" = 1 ] ||
        fail "a page of a star took others along"
    python3 - "$(_cell chain.lab/replay.csv "classic, p = 0.1" "missed for each" mean)" <<'PY' ||
import sys
sys.exit(float(sys.argv[1]) < 300)
PY
        fail "a page of a chain took hardly any along"
}

the_figures_depend_only_on_the_seed() {
    succeeds deja lab replay -q --quick -j 1 -o one
    succeeds deja lab replay -q --quick -j 2 -o two
    expect_same one/replay.csv two/replay.csv
}

wrong_links_are_refused() {
    fails_with 2 "--graph missing: No such file or directory" \
        deja lab replay --quick --graph missing -o report
    printf 'a\tb\nc\n' >links
    fails_with 2 "links: line 2 is not a link: FROM, a tab, TO" \
        deja lab replay --quick --graph links -o report
    : >links
    fails_with 2 "links: no page to start from" \
        deja lab replay --quick --graph links -o report
    mkdir folder
    fails_with 2 "folder: not the folder of a crawl: it has no queue.db" \
        deja lab replay --quick --graph folder -o report
    [ ! -e report ] || fail "it began a report"
}

another_site_is_another_lab() {
    printf 'a\tb\n' >links
    printf 'a\tc\n' >others
    succeeds deja lab replay -q --quick --graph links -o report
    succeeds deja lab replay -q --quick --graph links --resume -o report
    fails_with 2 "give the same --urls, --graph, --seed and --quick" \
        deja lab replay -q --quick --graph others --resume -o report
}

cases "$@"
