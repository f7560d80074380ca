/* urlgen_words.c - words that split into syllables in only one way. */
#include "gen/urlgen_parts.h"

/* There are 256 syllables of four patterns: an onset and a vowel, the same with a closing letter,
 * a grouped onset and a vowel, and an onset and a pair of vowels.  No consonant group starts with
 * n, r or l.  So these letters, after a vowel and before another consonant or the end, belong to
 * the syllable before; codas do not start with them either. */
static const char *const plain_onsets[] = {"b", "c", "d", "f", "g", "h", "j", "k", "l",
                                           "m", "n", "p", "r", "s", "t", "v", "w", "z"};
static const char *const grouped_onsets[] = {"br", "ch", "cl", "cr", "dr", "fl", "fr", "gr",
                                             "pl", "pr", "sh", "sk", "sp", "st", "th", "tr"};
static const char *const vowels[] = {"a", "e", "i", "o", "u"};
static const char *const vowel_pairs[] = {"ea", "io", "ai"};
static const char *const closings[] = {"n", "r", "l"};

/* Excluded, because of the words that they would form. */
static const char *const shunned[] = {"pe", "pi",  "pu",  "shi", "zi",  "cu",  "cul", "gro",
                                      "ki", "cli", "ti",  "se",  "ho",  "ni",  "spa", "mer",
                                      "fu", "pen", "pea", "ne",  "zir", "gin", "ji"};

const struct urlgen_piece urlgen_codas[16] = {
    PIECE(""), PIECE(""), PIECE(""),  PIECE(""),  PIECE(""),  PIECE(""),  PIECE(""),  PIECE(""),
    PIECE(""), PIECE(""), PIECE("s"), PIECE("s"), PIECE("s"), PIECE("t"), PIECE("t"), PIECE("d"),
};

char *urlgen_put_idle_word(const struct urlgen *g, char *at, struct dice *d)
{
    unsigned shape = roll(d, 8);
    unsigned syllables = shape < 56 ? 1 : shape < 190 ? 2 : 3;
    at = put_syllables(g, at, roll(d, 24), syllables);
    return put(at, &urlgen_codas[shape & 15]);
}

static bool is_shunned(const char *text)
{
    for (size_t i = 0; i < COUNT(shunned); i++) {
        if (strcmp(text, shunned[i]) == 0)
            return true;
    }
    return false;
}

struct maker {
    struct urlgen_piece *syllable;
    size_t n;
};

static void make_syllable(struct maker *m, const char *onset, const char *vowel,
                          const char *closing)
{
    const char *const parts[] = {onset, vowel, closing};
    struct urlgen_piece s = {.len = 0};
    for (size_t i = 0; i < COUNT(parts); i++) {
        size_t len = strlen(parts[i]);
        memcpy(s.text + s.len, parts[i], len);
        s.len = (uint8_t)(s.len + len);
    }
    if (m->n < 256 && !is_shunned(s.text))
        m->syllable[m->n++] = s;
}

static void make_syllables(struct urlgen_piece syllable[256])
{
    struct maker m = {syllable, 0};
    for (size_t v = 0; v < COUNT(vowels); v++) {
        for (size_t o = 0; o < COUNT(plain_onsets); o++) {
            make_syllable(&m, plain_onsets[o], vowels[v], "");
            make_syllable(&m, plain_onsets[o], vowels[v], closings[(o + v) % COUNT(closings)]);
        }
        for (size_t o = 0; o < COUNT(grouped_onsets); o++)
            make_syllable(&m, grouped_onsets[o], vowels[v], "");
    }
    for (size_t v = 0; v < COUNT(vowel_pairs); v++) {
        for (size_t o = 0; o < COUNT(plain_onsets); o++)
            make_syllable(&m, plain_onsets[o], vowel_pairs[v], "");
    }
    assert(m.n == 256);
}

void urlgen_words_init(struct urlgen *g)
{
    make_syllables(g->syllable);
}
