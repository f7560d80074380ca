# deja lab: the figures depend only on the seed, the report is complete, and stopping loses nothing.
# Times are not checked.
. "$SUPPORT/cases.sh"

# _figures DIR NAME...: the CSV of each has the columns, and every measured rate lies within 5
# standard deviations of its theory (the seed is fixed).  Not those of evolved functions, which are
# selected for being better than theory.
_figures() {
    python3 - "$@" <<'PY'
import csv, math, sys

COLUMNS = ("experiment,table,row,column,filters,hashes,multiplier,unit,runs,trials,hits,mean,"
           "standard_error,low,high,theory,sigma_theory,published,sigma_published,"
           "published_sigma_theory,note").split(",")
folder = sys.argv[1]
for name in sys.argv[2:]:
    rows = list(csv.DictReader(open(f"{folder}/{name}.csv")))
    assert rows and list(rows[0]) == COLUMNS, name
    judged = 0
    for row in rows:
        assert row["experiment"] == name and None not in row, row
        if row["trials"]:
            hits, trials = float(row["hits"]), float(row["trials"])
            assert 0 <= hits <= trials and float(row["low"]) <= float(row["mean"]), row
            assert float(row["mean"]) < float(row["high"]) or hits == trials, row
            assert math.isclose(float(row["mean"]), 100 * hits / trials, abs_tol=1e-12), row
        if row["sigma_theory"]:
            judged += 1
            assert abs(float(row["sigma_theory"])) < 5 or row["row"] == "evolved", row
    assert judged or name in ("memory", "speed"), f"{name}: nothing was compared with theory"
PY
}

# _same_figures A B: the CSV files are equal, except for the conditions (date, command); the pages
# may differ.
_same_figures() {
    local file
    for file in "$1"/*.csv; do
        [ "${file##*/}" != conditions.csv ] || continue
        expect_same "$file" "$2/${file##*/}"
    done
}

# _well_formed PAGE SVG...: the SVG files are XML, the page closes what it opens, ids are unique and
# links lead somewhere.
_well_formed() {
    python3 - "$@" <<'PY'
import html.parser, os, sys, xml.dom.minidom

for path in sys.argv[2:]:
    root = xml.dom.minidom.parse(path).documentElement
    assert root.getElementsByTagName("title") and root.getElementsByTagName("desc"), path
    for node in root.getElementsByTagName("path"):
        assert "nan" not in node.getAttribute("d") and "inf" not in node.getAttribute("d"), path

class Page(html.parser.HTMLParser):
    open, ids, links = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "link"):
            self.open.append(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name == "href"]

    def handle_startendtag(self, tag, attributes):
        assert tag in ("path", "rect"), tag

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
page.close()
assert not page.open, page.open
assert len(set(page.ids)) == len(page.ids), page.ids
for link in page.links:
    there = link[1:] in page.ids if link.startswith("#") else os.path.exists(
        os.path.join(os.path.dirname(sys.argv[1]), link))
    assert there or link == "data:,", link
PY
}

every_experiment_makes_figures_and_a_page() {
    succeeds deja lab all --quick -n 10k --output report
    expect_stdout_has "spatiotemporal"
    expect_stderr_has "see report/index.html"
    local name
    for name in $(deja lab --list | awk '{ print $1 }'); do
        _figures report "$name"
        grep -qF "<section id=\"$name\">" report/index.html || fail "no section for $name"
    done
    for name in single-rate spatial-A.6; do
        [ -s "report/$name.svg" ] || fail "no figure $name"
    done
    grep -qF "<section id=\"sources\">" report/index.html || fail "no sources"
    # A single file: nothing is fetched.
    ! grep -qE '(src|href)="?(https?:|//)|@import|url\(' report/index.html || fail "the page needs more"
    _well_formed report/index.html report/*.svg || fail "the report is not well formed"
}

_has_lines() { # N FILE
    [ "$(wc -l <"$2")" -ge "$1" ]
}

a_stop_loses_nothing() {
    local pid status=0 args=(lab spatial temporal -n 20k --runs 6)
    "$DEJA" "${args[@]}" --output stopped 2>err >out &
    pid=$!
    eventually _has_lines 4 stopped/lab.journal
    kill -TERM "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq 143 ] || fail "exit $status"
    grep -qF "add --resume to the command to continue" err || fail "it does not say how to continue"
    [ ! -e stopped/index.html ] || fail "a report of half of the figures"
    succeeds deja "${args[@]}" --output stopped --resume
    expect_stderr_has "units are done"
    succeeds deja "${args[@]}" --output whole
    _same_figures whole stopped
}

a_torn_journal_can_be_resumed() {
    succeeds deja lab -q single -n 5k --runs 2 --output whole
    cp -r whole torn
    head -c -7 whole/lab.journal >torn/lab.journal
    rm torn/*.csv
    succeeds deja lab -q single -n 5k --runs 2 --output torn --resume
    _same_figures whole torn
}

runs_can_be_added() {
    succeeds deja lab -q hashes -n 5k --runs 1 --output grown
    succeeds deja lab hashes -n 5k --runs 3 --output grown --resume
    expect_stderr_has "14 of 42 units are done"
    succeeds deja lab -q hashes -n 5k --runs 3 --output whole
    _same_figures whole grown
}

urls_can_come_from_a_file() {
    deja gen -n 6000 --seed 3 >some
    cat some some >twice
    printf '\n\n' >>twice
    succeeds deja lab single --runs 1 -n 3k --urls twice --output report
    _figures report single
    # Only half of the requested number: reported, and used.
    succeeds deja lab single --runs 1 -n 5k --urls twice --output fewer
    expect_stderr_has "6,000 duplicate lines of twice skipped"
    expect_stderr_has "twice has 6,000 distinct lines: n = 3,000 instead of 5,000"
    _same_figures report fewer
    grep -qF "6,000 duplicate lines omitted" fewer/index.html || fail "the page does not tell"
    # The command line in the report does the same again.
    deja gen -n 6000 --seed 3 | sed 's/^/7,/' >"a 'list'.csv"
    succeeds deja lab -q single --runs 1 -n 3k --urls "a 'list'.csv" --csv 2 --output column
    local command
    command=$(python3 -c 'import csv; print(dict(csv.reader(open("column/conditions.csv")))["command"])')
    eval "succeeds $command --output again"
    _same_figures column again
    gzip -k some
    succeeds deja lab -q single --runs 1 -n 3k --urls some.gz --output zipped
    _same_figures report zipped
}

_answers() { # DIR NAME: the answers to its claims
    python3 - "$1/$2-claims.csv" <<'PY'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["question"] == "holds":
        print(row["answer"], row["claim"])
PY
}

# Numbered pages: lookup2 mixes their digits poorly at two of 16 alignments.
hashes_are_tested_at_every_alignment_of_a_list() {
    local i
    for ((i = 0; i < 20000; i++)); do
        printf 'https://www.news.example.org/news/%03d_%02d.html\n' $((i / 100)) $((i % 100))
    done >pages
    succeeds deja lab -q hashes --runs 1 --urls pages --output report
    _answers report hashes >answers
    grep -q '^yes On this list, every function' answers || fail "$(cat answers)"
    grep -q '^no So does lookup2 as published' answers || fail "$(cat answers)"
    [ "$(grep -c '^hashes,alignment,' report/hashes.csv)" -eq $((9 * 16)) ] || fail "cells are missing"
}

evolved_functions_depend_only_on_the_seed() {
    deja gen -n 4000 --seed 5 >list
    succeeds deja lab -q evolved --quick --urls list --threads 1 --output one
    succeeds deja lab -q evolved --quick --urls list --threads 3 --output three
    _same_figures one three
    grep -qF "The best program for numbered pages" one/index.html || fail "no program"
    cp -r one torn
    head -c -7 one/lab.journal >torn/lab.journal
    succeeds deja lab -q evolved --quick --urls list --output torn --resume
    _same_figures one torn
    succeeds deja lab -q evolved --quick --urls list --seed 2 --output other
    ! cmp -s one/evolved.csv other/evolved.csv || fail "the seed changes nothing"
    # The smallest list.
    head -n 100 list >small
    succeeds deja lab -q evolved --quick --urls small --output small-report
    _answers small-report evolved >answers
    grep -q '^undecided .*(URLs of the lab)' answers || fail "50 URLs decide"
}

# One layer for every four words, but never more than 64, because a user's file may have any number
# of words.
titles_can_have_many_words() {
    local words
    words=$(seq -s ' ' 1000)
    { echo "$words"; seq -f 'title %.0f of many' 301; } >titles
    succeeds deja lab -q split --runs 1 --urls titles --output report
    grep -qF "up to 1000 words; 64 layers" report/index.html || fail "wrong number of layers"
    grep -qF "A title of 1000 words would need 250 layers" report/index.html || fail "no note"
    { echo id,keywords; echo "7,\"$words, \"\"quoted\"\"\""; seq -f '7,title %.0f' 301; } >table.csv
    succeeds deja lab -q split --runs 1 --urls table.csv --csv keywords --output table
    grep -qF "up to 1001 words" table/index.html || fail "the long column was not read"
    # Different lines with the same words leave nothing to measure.
    seq -f '%.0f' 300 | while read -r n; do printf '%*s\n' "$n" '' | tr ' ' -; done >dashes
    fails_with 2 "dashes has 1 different titles; split needs 100" \
        deja lab split --runs 1 --urls dashes --output none
}

without_a_name_experiments_are_listed() {
    succeeds deja lab
    expect_lines 16 .stdout
    expect_stderr_has "10 runs and n = 1,000,000"
    expect_stderr_has "deja lab all"
    # docs/lab.md cites the papers like this.
    local line papers=0
    while IFS= read -r line; do
        grep -qF "| ${line%%: *} | ${line#*: } |" "$SOURCE/docs/lab.md" || fail "docs/lab.md lacks $line"
        papers=$((papers + 1))
    done < <(sed -n 's/^deja lab: \([^"]*: .*".*\)/\1/p' .stderr)
    [ "$papers" -ge 5 ] || fail "$papers papers"
    # Each experiment names one of them.
    ! grep -vE '  (beyond the papers|(thesis|multi-layer paper|keyword-search report|lecture)\b)' .stdout ||
        fail "an unknown source"
    cp .stdout full
    grep -qE '^hashes +1 min [0-9]+ s +thesis, tables 5.1-5.8$' full || fail "no estimate: $(head -n 1 full)"
    [ ! -e deja-lab ] || fail "something ran"
    succeeds deja lab --list
    expect_same full .stdout
    succeeds deja lab --quick --output report
    expect_stderr_has "1 run and n = 100,000"
    [ ! -e report ] || fail "something ran"
    ! cmp -s full .stdout || fail "the estimates do not depend on the options"
    succeeds deja lab -q
    expect_stderr_empty
}

experiments_are_found_by_name() {
    succeeds deja lab --list
    expect_stdout_has "thesis, table 5.9"
    fails_with 2 "unknown experiment 'singel'; did you mean single?" deja lab singel
    fails_with 2 "run 'deja lab --list'" deja lab nonsense
    succeeds deja lab -q all memory -n 1k --quick --output all # named twice: once
    [ "$(grep -c '<section id="memory">' all/index.html)" -eq 1 ] || fail "memory stands there twice"
}

impossible_options_are_refused() {
    fails_with 2 "--runs takes a number" deja lab --runs 0
    fails_with 2 "--capacity takes a number" deja lab -n 10
    fails_with 2 "nowhere.txt" deja lab single --urls nowhere.txt --output report
    printf 'a\nb\n' >two
    fails_with 2 "two has 2 different lines" deja lab single --urls two --output report
    fails_with 2 "no/where" deja lab single -n 1k --output no/where
    fails_with 2 "there is nothing to resume" deja lab single -n 1k --output empty --resume
    succeeds deja lab -q single -n 1k --runs 1 --output report
    fails_with 2 "belongs to another lab" deja lab single -n 2k --runs 1 --output report --resume
    fails_with 2 "belongs to another lab" deja lab single -n 1k --seed 2 --output report --resume
    : >file
    fails_with 2 "file" deja lab single -n 1k --output file
}

a_full_disk_is_an_error() {
    [ -w /dev/full ] || skip "no /dev/full"
    mkdir report
    ln -s /dev/full report/single.csv
    fails_with 2 "No space left" deja lab single -n 1k --runs 1 --output report
    rm report/single.csv
    succeeds deja lab single -n 1k --runs 1 --output report --resume # the figures are there
}

cases "$@"
