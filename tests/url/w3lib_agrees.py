"""w3lib_agrees CANON_LINES - the `scrapy` profile gives the same forms as w3lib's canonicalize_url.

Hard cases chosen by hand, then seeded mutations of them.  The reference is w3lib 2.1.1 with Python
3.11, as in Debian 12; other versions differ in details, so the test is skipped for them.  libidn2
and Python's IDNA 2003 differ (docs/url.md): if a mutation has a network location beyond ASCII, only
the rest of the URL is compared."""

import os
import random
import subprocess
import sys

try:
    from w3lib.url import canonicalize_url
except ImportError:
    system = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system):
        os.execv(system, [system] + sys.argv)
    print("skipped: no w3lib for python3 (Debian: python3-w3lib)")
    sys.exit(77)
from importlib.metadata import version
from urllib.parse import urlsplit

if version("w3lib") != "2.1.1" or sys.version_info[:2] != (3, 11):
    print("skipped: w3lib", version("w3lib"), "on Python", sys.version.split()[0])
    sys.exit(77)

ENOTSUP, ENOTURL = -8, -11
MUTATIONS = 20000

# --- Both canonical forms -----------------------------------------------------------


def theirs(url):
    """The canonical form as bytes; None if w3lib raises."""
    try:
        return canonicalize_url(url.decode()).encode()
    except ValueError:  # UnicodeError is one
        return None


def ours(urls):
    """(status, form) of each URL."""
    text = b"".join(b"%d\n%s" % (len(url), url) for url in urls)
    done = subprocess.run([sys.argv[1], "scrapy"], input=text, capture_output=True, check=True)
    answers, at = [], 0
    while at < len(done.stdout):
        end = done.stdout.index(b"\n", at)
        status, length = map(int, done.stdout[at:end].split())
        answers.append((status, done.stdout[end + 1:end + 1 + length]))
        at = end + 1 + length
    assert len(answers) == len(urls), (len(answers), len(urls))
    return answers


def netloc_of(url):
    try:
        return urlsplit(url.decode().strip("".join(map(chr, range(33))))).netloc
    except ValueError:
        return ""


# --- URLs -----------------------------------------------------------------------

PLAIN = """
http://www.example.com/do?c=3&b=5&b=2&a=50
http://www.example.com/do?c=3&b=5&b=2&a=50#frag
http://www.example.com/r%c3%a9sum%c3%a9?q=b%a3
http://www.example.com/a%a3do?q=%2f&%3f=%26&c&=d&&;e=f;=
http://www.example.com/a b/%7Ec%20d/%zz/%/%4/%%41/%2541/%25252f?x=%2541
http://www.example.com/a%2fb%2Fc%3fd%3Fe%2ff
http://user:pass@www.example.com:80/
http://USER:Pass@WWW.Example.COM:8080/UPPER?UP=per
http://www.example.com
http://www.example.com:
http://www.example.com:::/x
http://www.example.com?
http://www.example.com/?#
http://www.example.com/?&&
http://:80/
http://:/
http://@/
http://
http:
http:/
http:path
http:/path
http:///path
http:////path
http://///path
//host/path
///path
////path
//host:
/path;params?b=2&a=1
path
?b=2&a=1
#frag
;params
?
http:;x
a:b:c
A+b-C.9://HOST/Path
1a://host/
+a:b
:x
mailto:me@example.com?subject=b&body=a
javascript:void(0)
data:text/plain,hello%20world;x
tel:+1-2;ext=3
news:comp.lang.c;x?y
file:///etc/passwd
file:etc
ftp://ftp.example.com/a;type=i
ftp:a;type=i
svn+ssh:x
WS:x
whatsapp://send?text=b&a
about:blank
localhost:8080/x
www.example.com/x?b&a
http://example.com/a;b/c;d;e?f;g
http://example.com/a;b/c
http://example.com/;
http://example.com/;;
http://example.com/a;%2f%7e b
http://example.com/./a/../b//c
http://example.com/a+b?c+d=e%2Bf+g
http://example.com/!$&'()*+,;=:@|[]{}^`<>"\\~_-.
http://example.com/?!$'()*+,:@|[]{}^`<>"\\~_-./?
http://example.com/?a=1&a=&a&a=0&a=1
http://example.com/?b=a=c&b=a%3Dc&b=a
http://example.com/?%61=1&a=0&%41=2&A=3
http://example.com/?a=%00&a&a=%01
http://ex%61mple.com/%61
http://example.com%2f/%
http://exa mple.com/
http://example.com\\a/b
http://[::1]/
http://[::1]:80/
http://[::1]:/
http://[::1]x/
http://x[::1]/
http://[::1/
http://::1]/
http://]::1[/
http://[1:2:3:4:5:6:7:8]/
http://[1:2:3:4:5:6:7::]/
http://[::2:3:4:5:6:7:8]/
http://[1:2:3:4:5:6:7:8:9]/
http://[1:2:3:4:5:6:7:8::]/
http://[1::2::3]/
http://[:1::2]/
http://[1:2:]/
http://[::1.2.3.4]/
http://[::1.2.3.04]/
http://[::1.2.3.256]/
http://[::1.2.3]/
http://[1:2:3:4:5:6:1.2.3.4]/
http://[1:2:3:4:5:6:7:1.2.3.4]/
http://[1.2.3.4]/
http://[12345::]/
http://[::g]/
http://[fe80::1%25eth0]/
http://[fe80::1%eth0]/
http://[fe80::1%]/
http://[fe80::1%a%b]/
http://[FE80::A]/
http://[v1.x]/
http://[vF.x:y]/
http://[v.x]/
http://[v1.]/
http://[v1x]/
http://[V1.x]/
http://[vg.x]/
http://[]/
http://[/]
http://[a]@example.com/
http://[a]@[::1]/
http://[a]@v1.x/
http://[a]@v1.x:80/
http://[a]@1.2.3.4/
http://a@b@c/
http://a:b:c/
http://..example..com./
http://""" + "a" * 70 + """.com/
http://example.com/""" + "a/" * 50 + """
http://example.com/?""" + "&".join(f"k{i % 7}={i % 13}" for i in range(300)) + """
http://example.com/?""" + "&".join(f"k{i * 7 % 40}={i % 13}" for i in range(40)) + """
http://example.com/?""" + "&" * 300 + """
"""
ODD = [
    b"", b" ", b"\x00", b"\t\r\n", b" http://a/b ", b"\x1fhttp://a/b\x00", b"ht\ttp:/\n/a\r/b",
    b"http://a/\tb?c\n=d", b"\t http\t://a", b"http\x00://a/", b"http://a\x00b/\x00?\x00",
    b"http://a/\x7f\x80", b"http://a/\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80",
    "http://a/é?é=é;ü#é".encode(), "é".encode(), "é:b".encode(), "hé://a/b".encode(),
    "http://a/\u2028\u00a0 ?\u3000".encode(), "\u00a0http://a/".encode(),
    "http://a/\U0001f600;\U0001f600?\U0001f600".encode(), b"http://a/%C3\xa9",
    "http://a/?é=1&z=1&%C3%A9=0&É".encode(),
]
# Network locations that both convert to ASCII, or both leave unchanged.
NAMES = """bücher.de BÜCHER.DE www.BÜCHER.de:80 bücher.de: faß.de ΣΊΣΥΦΟΣ.gr 例え.テスト 例え。テスト
例え．テスト｡ пример.рф ПРИМЕР.РФ me:pw@www.bücher.de:8080 ｅｘａｍｐｌｅ.com １.2.3.4 å.com Å.com
i❤.ws i❤️.ws ☃.net Bücher.Ünï.COM a_ü.com مثال.إختبار דוגמה.טעסט אb.com א1.com א1ב.com bא.com
..bücher.de bücher..de bücher.de.. Bücher..DE .É É..À Ж..Ⴀ İ..x ÿ..Ÿ a\u00adü.com \u00ad.com ü\u00ad.com
a／bü.com a：ü a＠ü a？ü a＃ü ℀.com a⁇ ﹕ü ⩴ ﷼.com 한국.kr ㍿.jp ﬀ.com ǅ.com ſ.com ς.com é\u2028.com
""".split() + ["ü" * 70 + ".de", "é" * 57 + ".de", "ü" * 3000, "a." * 200 + "ü", "ü." * 200]

SIMPLE = [line.encode() for line in PLAIN.strip("\n").split("\n")] + ODD
NAMED = [form.format(name).encode() for name in NAMES for form in ("http://{}/", "//{}", "x://{}?a")]

PIECES = [b"http", b"HTTPS", b"ftp", b"mailto", b":", b"://", b"/", b"//", b"?", b"#", b";", b"&", b"=",
          b"%", b"%2", b"%2f", b"%3F", b"%25", b"%41", b"%e9", b"+", b" ", b"\t", b"\n", b"\x00", b"@",
          b"[", b"]", b"[::1]", b"::", b"v1.", b".", b"..", b"a", b"Z", b"1", b"~", b"|", b"\\", b"'",
          b"\x7f", b"\xc3\xa9", b"\xff", b"\xe3\x80\x82", b"\xef\xbc\x8f", b"\xf0\x9f\x98\x80"]


def mutated(chance):
    url = bytearray(chance.choice(chance.choice([SIMPLE] * 9 + [NAMED])))
    if len(url) > 400:
        url = url[:chance.randrange(400)]
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(url) + 1)
        what = chance.randrange(6)
        if what == 0:
            del url[at:at + chance.randrange(1, 4)]
        elif what == 1:
            url[at:at] = bytes([chance.randrange(128)])
        elif what == 2 and url:
            start = chance.randrange(len(url))
            url[at:at] = url[start:start + chance.randrange(1, 12)]
        else:
            url[at:at] = chance.choice(PIECES)
    return bytes(url)


# --- The comparison --------------------------------------------------------------


def beyond_netloc(form):
    """A form without its network location."""
    at = form.find(b"//")
    return form if at < 0 else form[:at + 2] + form[at + 2 + len(form[at + 2:].split(b"/")[0]):]


def compare(urls, strict):
    excused, raised, wrong = 0, 0, []
    for url, (status, form) in zip(urls, ours(urls)):
        want = theirs(url)
        raised += want is None
        if (want is None and status == ENOTURL) or (status == 0 and form == want):
            continue
        if status == ENOTSUP and not netloc_of(url).isascii():
            excused += 1  # a build without libidn2
        elif not strict and not netloc_of(url).isascii() and status == 0 and want is not None and (
                beyond_netloc(form) == beyond_netloc(want)):
            excused += 1
        else:
            wrong.append((url, status, form, want))
    for url, status, form, want in wrong[:20]:
        print(f"{url!r}\n  status {status} {form!r}\n  w3lib    {want!r}")
    assert not wrong, f"{len(wrong)} of {len(urls)} differ"
    print(f"{len(urls)} URLs agree; {raised} are not URLs for both, {excused} left to IDNA")


if __name__ == "__main__":
    compare(SIMPLE + NAMED, strict=True)
    chance = random.Random(5)
    compare([mutated(chance) for _ in range(MUTATIONS)], strict=False)
