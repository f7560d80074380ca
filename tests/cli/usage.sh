# Wrong options and files for dedup, build, add and check: exit status 2, a message with the problem
# and the remedy, nothing on standard output, no files left behind.
. "$SUPPORT/cases.sh"

_refuses() { # TEXT ARG...
    local text=$1
    shift
    fails_with 2 "$text" deja "$@"
    expect_stdout ''
    [ "$(wc -l <.stderr)" -le 2 ] || fail "more than a message and a hint"
}

missing_files_are_named() {
    echo a >list
    _refuses "nowhere does not exist" dedup nowhere
    _refuses "nowhere does not exist" dedup list nowhere
    _refuses "nowhere does not exist" build new.deja list nowhere
    [ ! -e new.deja ] || fail "a filter of half the files was made"
    _refuses "nowhere.deja" check nowhere.deja list
    _refuses "nowhere.deja" add nowhere.deja list
    _refuses "nowhere/seen.deja" dedup --state nowhere/seen.deja list
    _refuses "nowhere/new.deja" build nowhere/new.deja list
    deja build -q f.deja list
    _refuses "nowhere does not exist" check f.deja nowhere
    _refuses "nowhere does not exist" add f.deja nowhere
}

directories_are_refused_as_files() {
    echo a >list
    mkdir folder
    _refuses "folder is a directory" dedup folder
    _refuses "folder is a directory" dedup --state folder list
    _refuses "folder is a directory" build folder list
    _refuses "folder is not a regular file" check folder list
    _refuses "folder is a directory" add folder list
    _refuses "folder is a directory" build new.deja folder
    exits_with 2 deja dedup <folder
    expect_stderr_has "standard input is a directory"
}

impossible_capacities_are_refused() {
    echo a >list
    _refuses "-n/--capacity takes a number from 1 to 9007199254740992, not 0" dedup -n 0 list
    local n
    for n in -1 abc '' 1x 0x10 1.5 ' 5' '5,' 1e-1; do
        _refuses "-n/--capacity takes a whole number" dedup -n "$n" list
    done
    for n in 1e30 99999999999999999999 18446744073709551616 20000P 1e9999; do
        _refuses "-n/--capacity takes at most 18446744073709551615" dedup -n "$n" list
    done
    # Within 64 bits, but larger than any machine could hold.
    _refuses "-n/--capacity takes a number from 1 to 9007199254740992, not 18446744073709551615" dedup -n 18446744073709551615 list
    for n in 9007199254740992 1P 100T; do
        exits_with 2 deja dedup -n "$n" list
        expect_stdout ''
        exits_with 2 deja dedup -k exact -n "$n" list
        exits_with 2 deja dedup -k scalable -n "$n" list
    done
    _refuses "needs a value" dedup list -n
}

impossible_rates_are_refused() {
    echo a >list
    local p
    for p in 0 1 nan NaN inf abc 2 -1 '' 1.0 0.0 1e-400 1e400 0x1p-3 0.5x '50%' ',5'; do
        _refuses "-p/--fp-rate takes a rate between 0 and 1" dedup -p "$p" list
        _refuses "--fp-rate takes a rate between 0 and 1" build --fp-rate="$p" new.deja list
    done
    for p in 0.999999 1e-15; do
        succeeds deja dedup -n 10 -p $p list
    done
    exits_with 2 deja dedup -n 10 -p 1e-300 list # no filter is that accurate
}

impossible_sizes_are_refused() {
    echo a >list
    local m
    for m in 16E abc '' -1 1.5.5 5X; do
        _refuses "-m/--memory takes a size in bytes" dedup -m "$m" list
    done
    _refuses "-m/--memory takes a number from 1 to 1125899906842624, not 0" dedup -m 0 list
    _refuses "-m/--memory takes at most" dedup -m 20000P list
    _refuses "-m/--memory takes a number from 1 to 1125899906842624, not 18014398509481984" dedup -m 16P list
    _refuses "-m is 1: it must be at least" dedup -m 1 list
}

# The library rejects a size that exceeds the machine's memory, so no process is killed for it.
more_memory_than_the_machine_has_is_refused() {
    echo a >list
    if [ "$(cat /proc/sys/vm/overcommit_memory 2>/dev/null)" != 1 ]; then
        _refuses "out of memory: the filter needs 4398047 MB" dedup -m 4T list
        _refuses "out of memory: the filter needs" dedup -n 100G list
        _refuses "out of memory: the filter needs" dedup -k exact -n 1T list
    fi
    (
        ulimit -v 1000000
        _refuses "out of memory: the filter needs 2147 MB" dedup -m 2G list
        _refuses "out of memory: the filter needs" dedup -n 1G list
    )
    # A filter that runs out of memory while it grows reports it too, after printing earlier lines.
    seq 1 2300000 >list
    (
        ulimit -v 50000
        fails_with 2 "out of memory while the filter grew" \
            deja dedup -j 1 -k scalable -n 300k -p 1e-9 --seed 1 list
        cmp -n "$(stat -c %s .stdout)" list .stdout || fail "wrong lines before the end"
        [ "$(wc -l <.stdout)" -gt 400000 ] || fail "too few lines before the end"
    )
}

unknown_kinds_and_hashes_are_refused() {
    echo a >list
    _refuses "-k/--kind takes classic, blocked, layered, spectral, paired, scalable, window, static or exact, not 'bloom'" dedup -k bloom list
    _refuses "did you mean blocked?" dedup -k bloked list
    _refuses "--hash takes xxh3" dedup --hash crc32 list
    _refuses "did you mean murmur" dedup --hash murmur4 list
    _refuses "--kind" dedup --kind= list
    _refuses "mixed has" dedup -k classic --hash mixed --hashes 50 -n 10 list
    _refuses "blocked takes at most" dedup -k blocked --hashes 50 -n 10 list
}

unknown_options_and_commands_are_refused() {
    echo a >list
    _refuses "unknown option --nul; did you mean --null?" dedup --nul list
    expect_stderr_has "try: deja dedup --help"
    _refuses "unknown option --sate; did you mean --state?" dedup --sate list
    _refuses "unknown option -csv; did you mean --csv?" dedup -csv list
    _refuses "unknown option -y" dedup -y list
    _refuses "unknown option --zzzzzzz" dedup --zzzzzzz list
    _refuses "--quiet takes no value" dedup --quiet=yes list
    _refuses "unknown command 'dedpu'; did you mean dedup?" dedpu list
    _refuses "unknown command 'frobnicate'" frobnicate
    _refuses "unknown option" --frobnicate
    _refuses "unknown option -o" build -o x list
    _refuses "unknown option -n" add -n 5 f.deja list
    _refuses "unknown option -k" check -k exact f.deja list
}

missing_operands_are_reported() {
    _refuses "missing operand; usage: deja build" build
    _refuses "missing operand; usage: deja add" add
    _refuses "missing operand; usage: deja check" check
}

contradicting_options_are_refused() {
    echo a >list
    _refuses "give two; deja computes the third" dedup -n 1000 -p 0.01 -m 1M list
    _refuses "give two; deja computes the third" build -n 1000 -p 0.01 -m 1M new.deja list
    _refuses "--csv and -f/--field cannot be combined" dedup --csv 1 -f 1 list
    _refuses "-d/--delimiter needs -f/--field or --csv" dedup -d , list
    _refuses "--key and --seed cannot be combined" dedup --key k --seed 1 list
    _refuses "a scalable filter grows" dedup -k scalable -m 1M list
    _refuses "--filters takes a number from 1" dedup --filters 0 list
    _refuses "--filters takes a number from 1 to 16, not 1000" dedup -n 10 --filters 1000 list
    _refuses "-f/--field takes a number from 1" dedup -f 0 list
    _refuses "-j/--threads takes a number from 1" dedup -j 0 list
    _refuses "--seed takes a number from 1" dedup --seed 0 list
    _refuses "delimiter" dedup -f 1 -d '\n' list
    _refuses "delimiter" dedup -f 1 -d ab list
    _refuses "delimiter" dedup --csv 1 -d '"' list
}

# If --csv or --json-key uses a file name as its value, the user must hear of it, because standard
# input is then read instead of the file.
a_file_name_used_as_a_column_is_noticed() {
    printf 'url\na\na\n' >list.csv
    gzip -k list.csv
    cp list.csv url
    deja build -q f.deja list.csv
    local command option
    for command in dedup 'build new.deja' 'check f.deja' 'add f.deja' url; do
        # shellcheck disable=SC2086 # words
        {
            _refuses "--csv takes a column, but list.csv.gz is a file: write --csv COLUMN list.csv.gz, or add - to read standard input" \
                $command --csv list.csv.gz </dev/null
            _refuses "--json-key takes the name of a string, but ./url is a file: write --json-key NAME ./url" \
                $command --json-key ./url </dev/null
        }
    done
    _refuses "--csv takes a column, but f.deja is a file" check --csv f.deja list.csv
    [ ! -e new.deja ] || fail "a filter was made"
    # A column that is called like a file is a column, and so is anything before a file or -.
    deja dedup -q --csv url <list.csv >out
    printf 'url\na\n' | cmp - out
    printf 'list.csv\na\na\n' >odd.csv
    for option in '' -; do
        # shellcheck disable=SC2086 # perhaps none
        if [ -z "$option" ]; then succeeds deja dedup --csv list.csv odd.csv; else
            deja dedup -q --csv list.csv - <odd.csv >.stdout
        fi
        printf 'list.csv\na\n' | expect_stdout
    done
}

fields_cannot_count_from_the_end() {
    printf '%s\n' 'a b c' 'd c' 'e f' >list
    _refuses "-f/--field counts from 1, not '-1'; to use the last field, put it first: awk -v OFS='\t' '{print \$NF, \$0}' FILE | deja dedup -f 1 -d '\t' | cut -f 2-" \
        dedup -f -1 list
    _refuses "--field counts from 1, not '-2'" dedup --field=-2 list
    _refuses "-f/--field takes a number from 1" dedup -f 0 list
    # The suggested command works.
    awk -v OFS='\t' '{print $NF, $0}' list | deja dedup -q -f 1 -d '\t' | cut -f 2- >out
    printf '%s\n' 'a b c' 'e f' | cmp - out
}

wrong_url_options_are_refused() {
    echo http://a.example/ >list
    deja build -q new.deja list
    local command
    for command in dedup 'build f.deja' 'check new.deja' 'add new.deja'; do
        # shellcheck disable=SC2086 # words
        {
            _refuses "--url takes safe, crawl, gsb, scrapy or shape, not 'sfae'; did you mean safe?" \
                $command --url=sfae list
            _refuses "--strict needs --url, -f, --csv, --json-key or --format:" $command --strict list
            _refuses "--base takes an absolute URL such as https://example.org, not 'a.example'" \
                $command --url --base a.example list
            _refuses "--base takes an absolute URL" $command --url --base mailto:me list
            _refuses "--drop-params is for profile crawl: gsb keeps all parameters" \
                $command --url=gsb --drop-params list list
            _refuses "--keep-params is for profile crawl: safe keeps all parameters" \
                $command --url --keep-params=a list
            _refuses "nowhere: cannot open the list of parameters" \
                $command --url=crawl --drop-params nowhere list
            _refuses "'a=b' is not a parameter name: it contains = or &" \
                $command --url=crawl --keep-params=c,a=b list
        }
    done
    printf '# names\n\nok_*\nno*t\n' >names
    _refuses "names: line 4 is not a parameter name: it has a * that is not at the end" \
        dedup --url=crawl --drop-params names list
    _refuses "--canonical needs --url" dedup --canonical list
    _refuses "--canonical needs --url" dedup --canonical --state none list
    _refuses "--canonical needs --url" dedup --canonical --redis nowhere --state none list
    [ ! -e none ] || fail "a state was made"
    _refuses "new.deja holds bytes as given, not URLs: omit --canonical" check --canonical new.deja list
    _refuses "new.deja holds bytes as given, not URLs: omit --base" add --base http://a/ new.deja list
    _refuses "--base needs --url" dedup --base http://a/ list
    _refuses "--base needs --url" build --base http://a/ f.deja list
    deja build -q --url safe.deja list
    _refuses "--drop-params is for profile crawl: safe keeps all parameters" \
        check --drop-params list safe.deja list
    _refuses "--format hosts can find several" dedup --url=gsb --canonical --format hosts list
    _refuses "unknown option --canonical" build --url --canonical f.deja list
    [ ! -e f.deja ] || fail "a filter was made"
}

more_threads_than_cores_are_fine() {
    seq 1 100 >list
    succeeds deja dedup -j 1000 list
    expect_same list .stdout
}

cases "$@"
