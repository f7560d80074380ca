# deja lab's page in a real browser: it is complete, has no errors, does not use the network, works
# in light and dark mode, and fits on a phone.
. "$SUPPORT/cli.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip "no Chromium (Debian: chromium)"

succeeds deja lab -q all --quick -n 5k --output report

# The page measures itself, at the width of a phone: how far its contents reach (a wide table scrolls
# inside its frame), and which texts of a figure overlap or leave it.
cat >probe.js <<'JS'
document.documentElement.style.width = '390px';
let right = 0;
const scrolls = e => e && getComputedStyle(e).overflowX === 'auto';
for (const e of document.querySelectorAll('body *'))
    if (!scrolls(e.parentElement.closest('.wide')))
        right = Math.max(right, e.getBoundingClientRect().right);
const bad = [];
for (const svg of document.querySelectorAll('svg.fig')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([text, r], i) => {
        if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.bottom > frame.bottom + 1)
            bad.push(text + ' leaves the figure');
        for (const [other, q] of texts.slice(i + 1))
            if (r.left < q.right - 1 && q.left < r.right - 1 && r.top < q.bottom - 2 && q.top < r.bottom - 2)
                bad.push(text + ' overlaps ' + other);
    });
}
document.body.dataset.width = Math.ceil(right);
document.body.dataset.bad = bad.join('; ');
JS
{
    sed 's|</body>.*||' report/index.html
    echo '<script>'
    cat probe.js
    echo '</script></body></html>'
} >report/probe.html
browse() { # WIDTH SCHEME(0 dark, 1 light) ARG...: the page as the browser sees it
    timeout 600 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$PWD/profile" --host-resolver-rules='MAP * ~NOTFOUND' \
        --enable-logging=stderr --window-size="$1,900" \
        --blink-settings=preferredColorScheme="$2" "${@:3}" "file://$PWD/report/probe.html" 2>log
}

browse 1100 1 --dump-dom >dom.html || skip "this machine cannot run $browser"
! grep -F 'CONSOLE' log || fail "errors on the console"
! grep -qiE 'net::|ERR_' log || fail "it wanted something from elsewhere: $(cat log)"

python3 - report dom.html <<'PY' || fail "the page is not complete"
import csv, glob, html, re, sys

page = open(sys.argv[2]).read()
sections = dict(re.findall(r'<section id="([^"]+)">(.*?)</section>', page, re.S))
for path in glob.glob(sys.argv[1] + "/*.csv"):
    name = path.rsplit("/", 1)[1][:-4]
    if name.endswith("-claims") or name in ("seeds", "conditions"):
        continue
    claims = list(csv.DictReader(open(f"{sys.argv[1]}/{name}-claims.csv")))
    tables = {row["table"] for row in csv.DictReader(open(path))}
    figures = glob.glob(f"{sys.argv[1]}/{name}-*.svg")
    text = sections[name]
    assert text.count("<table") == len(tables) + (len(claims) > 0), (name, tables)
    assert text.count("Hypothesis: ") == len(claims), name
    assert {claim["answer"] for claim in claims} <= {"yes", "no", "undecided"}, name
    assert text.count("<svg") == len(figures), (name, figures)
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        for tag in ("title", "desc"):  # for readers who cannot see it
            assert re.search(f"<svg[^>]*>.*?<{tag}>[^<]", svg, re.S), (name, tag)
    for caption in re.findall(r"<figcaption>(.*?)</figcaption>", text, re.S):
        assert "<span>" in caption, (name, caption)  # what to notice
    assert claims or '<li class="' in text, name
    assert "nan" not in re.sub(r"<[^>]*>", " ", text).lower().split(), name
assert len(sections) >= 13 and "conditions" in sections
for row in csv.DictReader(open(sys.argv[1] + "/conditions.csv")):
    if row["condition"] != "date":
        assert html.escape(row["value"], quote=False) in sections["conditions"].replace(
            "&quot;", '"'), row
for word in ("deja gen", "seed", "runs", "machine", "version"):
    assert word in sections["conditions"], word
assert "A small run: n = 5,000 instead of" in page and "undecided" in page
PY

browse 390 1 --dump-dom >phone.html
width=$(sed -n 's/.*data-width="\([0-9]*\)".*/\1/p' phone.html)
[ "${width:-9999}" -le 390 ] || fail "on a phone the page is $width pixels wide"
bad=$(sed -n 's/.*data-bad="\([^"]*\)".*/\1/p' phone.html)
[ -z "$bad" ] || fail "in figures: $bad"

# Light and dark are different pictures.
browse 800 1 --screenshot="$PWD/light.png" >/dev/null
browse 800 0 --screenshot="$PWD/dark.png" >/dev/null
[ -s light.png ] || fail "no picture"
! cmp -s light.png dark.png || fail "dark looks like light"
