/* lab_gp.c - programs that compute a hash; see lab_gp.h.
 *
 * A population is judged tens of thousands of times on the same keys, so speed matters: a step is
 * decoded once and then runs on LAB_GP_LANES keys, in the compiler's vectors.  That makes the
 * interpreter about as fast as compiled code.  Keys of a group have similar lengths; those that
 * have ended keep their registers while the longest continue. */
#include "lab/engine/lab_gp.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Keys ------------------------------------------------------------------- */

static uint32_t words_of(uint32_t length)
{
    return length / 4 + (length % 4 != 0);
}

uint32_t lab_gp_room(uint32_t n)
{
    return (n + LAB_GP_LANES - 1) / LAB_GP_LANES * LAB_GP_LANES;
}

static int shorter(const void *a, const void *b)
{
    const deja_slice *x = a, *y = b;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return x->len > 0 ? memcmp(x->data, y->data, x->len) : 0;
}

static void copy_key(uint32_t *word, deja_slice key)
{
    const uint8_t *byte = key.data;
    for (size_t i = 0; i < key.len; i++)
        word[i / 4 * LAB_GP_LANES] |= (uint32_t)byte[i] << i % 4 * 8;
}

/* Allocates all arrays for keys sorted by length. */
static int make_room(struct lab_gp_keys *k, const deja_slice *sorted, deja_error *err)
{
    const uint32_t room = lab_gp_room(k->n);
    size_t words = 0;
    k->length = calloc(room, sizeof *k->length);
    k->first = calloc(room / LAB_GP_LANES, sizeof *k->first);
    if (!k->length || !k->first)
        return fail(err, DEJA_ENOMEM, "out of memory for the keys of programs");
    for (uint32_t i = 0; i < room; i++) {
        const size_t len = sorted[i < k->n ? i : k->n - 1].len;
        if (len > LAB_GP_BYTES_MOST)
            return fail(err, DEJA_EINVAL, "a key of %zu bytes is too long for the lab", len);
        k->length[i] = (uint32_t)len;
        if (i % LAB_GP_LANES == 0)
            k->first[i / LAB_GP_LANES] = words;
        if (i % LAB_GP_LANES == LAB_GP_LANES - 1)
            words += (size_t)LAB_GP_LANES * words_of((uint32_t)len);
        if (words * sizeof *k->word > LAB_GP_BYTES_MOST)
            return fail(err, DEJA_EINVAL, "the keys are too long: take fewer or shorter ones");
    }
    k->word = calloc(words + 1, sizeof *k->word);
    return k->word ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for the keys of programs");
}

int lab_gp_keys_init(struct lab_gp_keys *k, const deja_slice *keys, uint32_t n, deja_error *err)
{
    *k = (struct lab_gp_keys){.n = n};
    if (n == 0 || n > LAB_GP_KEYS_MOST)
        return fail(err, DEJA_EINVAL, "cannot take %u keys: the maximum is %u", n,
                    LAB_GP_KEYS_MOST);
    deja_slice *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return fail(err, DEJA_ENOMEM, "out of memory for the keys of programs");
    memcpy(sorted, keys, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, shorter);
    const int rc = make_room(k, sorted, err);
    for (uint32_t i = 0; rc == DEJA_OK && i < n; i++)
        copy_key(k->word + k->first[i / LAB_GP_LANES] + i % LAB_GP_LANES, sorted[i]);
    free(sorted);
    return rc;
}

void lab_gp_keys_fini(struct lab_gp_keys *k)
{
    free(k->length);
    free(k->first);
    free(k->word);
    *k = (struct lab_gp_keys){0};
}

/* --- Running ---------------------------------------------------------------- */

#define VECTOR  8u /* lanes of a vector: two registers of SSE2 */
#define VECTORS (LAB_GP_LANES / VECTOR)
typedef __attribute__((vector_size(4 * VECTOR))) uint32_t vector;

/* A register of all keys of a group; the last one has the constant of the current step. */
struct lanes {
    vector v[VECTORS];
};
struct machine {
    struct lanes reg[LAB_GP_REGISTERS + 1];
    const uint32_t *table;
};

static void look_up(const uint32_t *table, struct lanes *to, const struct lanes *from)
{
    for (size_t i = 0; i < VECTORS; i++)
        for (size_t j = 0; j < VECTOR; j++)
            to->v[i][j] ^= table[from->v[i][j] % LAB_GP_TABLE];
}

static void run_step(struct machine *m, const struct lab_gp_step *s)
{
    struct lanes *to = &m->reg[s->to];
    const struct lanes *from = &m->reg[s->from];
    const unsigned by = lab_gp_distance(s->constant);
    if (s->from == LAB_GP_CONSTANT)
        for (size_t i = 0; i < VECTORS; i++)
            m->reg[LAB_GP_CONSTANT].v[i] = (vector){0} + s->constant;
    if (s->op == LAB_GP_LOOKUP)
        look_up(m->table, to, from);
    for (size_t i = 0; i < VECTORS; i++)
        if (s->op == LAB_GP_XOR)
            to->v[i] ^= from->v[i];
        else if (s->op == LAB_GP_ADD)
            to->v[i] += from->v[i];
        else if (s->op == LAB_GP_MULTIPLY)
            to->v[i] *= from->v[i] | 1;
        else if (s->op == LAB_GP_ROTATE)
            to->v[i] = to->v[i] << by | to->v[i] >> (32 - by);
        else if (s->op == LAB_GP_SHIFT)
            to->v[i] ^= to->v[i] >> by;
}

static void run_part(struct machine *m, const struct lab_gp *p, enum lab_gp_part part)
{
    for (unsigned i = 0; i < p->n[part]; i++)
        run_step(m, &p->step[part][i]);
}

/* Word number `at` of the keys; those of `length` bytes that have fewer words do not change. */
static void run_some(struct machine *m, const struct lab_gp *p, const uint32_t *length,
                     uint32_t at)
{
    const struct machine before = *m;
    run_part(m, p, LAB_GP_LOOP);
    for (size_t i = 0; i < LAB_GP_LANES; i++)
        if (words_of(length[i]) <= at)
            for (size_t r = 0; r < LAB_GP_W; r++)
                m->reg[r].v[i / VECTOR][i % VECTOR] = before.reg[r].v[i / VECTOR][i % VECTOR];
}

static void run_group(struct machine *m, const struct lab_gp *p, const uint32_t *length,
                      const uint32_t *word)
{
    const uint32_t fewest = words_of(length[0]), most = words_of(length[LAB_GP_LANES - 1]);
    for (size_t i = 0; i < VECTORS; i++)
        for (uint32_t r = 0; r < LAB_GP_W; r++)
            m->reg[r].v[i] = (vector){0} + (r + 1) * LAB_GP_START;
    for (uint32_t at = 0; at < most; at++, word += LAB_GP_LANES) {
        memcpy(&m->reg[LAB_GP_W], word, sizeof m->reg[LAB_GP_W]);
        if (at < fewest)
            run_part(m, p, LAB_GP_LOOP);
        else
            run_some(m, p, length, at);
    }
    memcpy(&m->reg[LAB_GP_W], length, sizeof m->reg[LAB_GP_W]);
    run_part(m, p, LAB_GP_END);
}

void lab_gp_hash(const struct lab_gp *p, const uint32_t table[LAB_GP_TABLE],
                 const struct lab_gp_keys *k, uint32_t *hash)
{
    struct machine m = {.table = table};
    for (uint32_t i = 0; i < lab_gp_room(k->n); i += LAB_GP_LANES) {
        run_group(&m, p, k->length + i, k->word + k->first[i / LAB_GP_LANES]);
        memcpy(hash + i, &m.reg[LAB_GP_A], sizeof m.reg[LAB_GP_A]);
    }
}

/* --- Breeding --------------------------------------------------------------- */

static uint32_t below(uint64_t *dice, uint32_t limit)
{
    return (uint32_t)mix_below(mix_next(dice), limit);
}

static struct lab_gp_step random_step(uint64_t *dice)
{
    struct lab_gp_step s = {.op = (uint8_t)below(dice, LAB_GP_OPS),
                            .to = (uint8_t)below(dice, LAB_GP_REGISTERS),
                            .from = (uint8_t)below(dice, LAB_GP_REGISTERS + 1)};
    s.constant = (uint32_t)mix_next(dice);
    return s;
}

struct lab_gp lab_gp_random(uint64_t *dice)
{
    struct lab_gp p = {0};
    for (unsigned part = 0; part < LAB_GP_PARTS; part++) {
        p.n[part] = (uint8_t)(1 + below(dice, LAB_GP_STEPS));
        for (unsigned i = 0; i < p.n[part]; i++)
            p.step[part][i] = random_step(dice);
    }
    return p;
}

/* Change one field of a step. */
static void mutate_step(struct lab_gp_step *s, uint64_t *dice)
{
    const struct lab_gp_step other = random_step(dice);
    switch (below(dice, 5)) {
    case 0:
        s->op = other.op;
        break;
    case 1:
        s->to = other.to;
        break;
    case 2:
        s->from = other.from;
        break;
    case 3:
        s->constant = other.constant;
        break;
    default:
        s->constant ^= UINT32_C(1) << below(dice, 32);
    }
}

static void insert_step(struct lab_gp *p, unsigned part, unsigned at, uint64_t *dice)
{
    struct lab_gp_step *step = p->step[part];
    if (p->n[part] == LAB_GP_STEPS)
        return;
    memmove(step + at + 1, step + at, (p->n[part] - at) * sizeof *step);
    step[at] = random_step(dice);
    p->n[part]++;
}

static void delete_step(struct lab_gp *p, unsigned part, unsigned at)
{
    struct lab_gp_step *step = p->step[part];
    p->n[part]--;
    memmove(step + at, step + at + 1, (p->n[part] - at) * sizeof *step);
}

void lab_gp_mutate(struct lab_gp *p, uint64_t *dice)
{
    const unsigned part = below(dice, LAB_GP_PARTS), n = p->n[part];
    const unsigned at = n > 0 ? below(dice, n) : 0, what = below(dice, 8);
    if (n == 0 || what == 0)
        insert_step(p, part, at, dice);
    else if (what == 1)
        delete_step(p, part, at);
    else if (what == 2)
        p->step[part][at] = random_step(dice);
    else
        mutate_step(&p->step[part][at], dice);
}

struct lab_gp lab_gp_cross(const struct lab_gp *a, const struct lab_gp *b, uint64_t *dice)
{
    struct lab_gp child = {0};
    for (unsigned part = 0; part < LAB_GP_PARTS; part++) {
        const unsigned head = below(dice, a->n[part] + 1u), from = below(dice, b->n[part] + 1u);
        const unsigned rest = b->n[part] - from;
        const unsigned tail = rest < LAB_GP_STEPS - head ? rest : LAB_GP_STEPS - head;
        memcpy(child.step[part], a->step[part], head * sizeof **child.step);
        memcpy(child.step[part] + head, b->step[part] + from, tail * sizeof **child.step);
        child.n[part] = (uint8_t)(head + tail);
    }
    return child;
}

/* --- Records ---------------------------------------------------------------- */

/* The number of steps, then each step as constant * 512 + op * 64 + to * 8 + from: below 2^41, so
 * a double holds it exactly. */
void lab_gp_pack(const struct lab_gp *p, double number[LAB_GP_NUMBERS])
{
    for (unsigned part = 0; part < LAB_GP_PARTS; part++) {
        *number++ = p->n[part];
        for (unsigned i = 0; i < LAB_GP_STEPS; i++) {
            const struct lab_gp_step *s = &p->step[part][i];
            const uint64_t fields = s->op * 64u + s->to * 8u + s->from;
            *number++ = i < p->n[part] ? (double)((uint64_t)s->constant << 9 | fields) : 0;
        }
    }
}

static uint64_t whole(double number)
{
    return number > 0 && number < 0x1p41 ? (uint64_t)number : 0;
}

struct lab_gp lab_gp_unpack(const double number[LAB_GP_NUMBERS])
{
    struct lab_gp p = {0};
    for (unsigned part = 0; part < LAB_GP_PARTS; part++) {
        p.n[part] = (uint8_t)(whole(*number++) % (LAB_GP_STEPS + 1));
        for (unsigned i = 0; i < LAB_GP_STEPS; i++) {
            const uint64_t s = whole(*number++);
            p.step[part][i] = (struct lab_gp_step){
                (uint8_t)(s / 64 % 8 % LAB_GP_OPS), (uint8_t)(s / 8 % 8 % LAB_GP_REGISTERS),
                (uint8_t)(s % 8 % (LAB_GP_REGISTERS + 1)), (uint32_t)(s >> 9)};
        }
    }
    return p;
}

static void write_step(char *text, size_t cap, const struct lab_gp_step *s)
{
    static const char *const name[LAB_GP_REGISTERS] = {"a", "b", "c", "w"};
    static const char *const sign[LAB_GP_OPS] = {"^=", "+=", "*="};
    char constant[16];
    (void)snprintf(constant, sizeof constant, "0x%x",
                   s->constant | (s->op == LAB_GP_MULTIPLY ? 1 : 0));
    const char *to = name[s->to];
    const char *from = s->from == LAB_GP_CONSTANT ? constant : name[s->from];
    const unsigned by = lab_gp_distance(s->constant);
    if (s->op == LAB_GP_ROTATE)
        (void)snprintf(text, cap, "%s = %s <<< %u", to, to, by);
    else if (s->op == LAB_GP_SHIFT)
        (void)snprintf(text, cap, "%s ^= %s >> %u", to, to, by);
    else if (s->op == LAB_GP_LOOKUP)
        (void)snprintf(text, cap, "%s ^= T[%s & 255]", to, from);
    else
        (void)snprintf(text, cap, "%s %s %s%s", to, sign[s->op], from,
                       s->op == LAB_GP_MULTIPLY && s->from != LAB_GP_CONSTANT ? " | 1" : "");
}

void lab_gp_text(const struct lab_gp *p, enum lab_gp_part part, char text[LAB_GP_TEXT])
{
    size_t len = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < p->n[part]; i++) {
        char step[48];
        write_step(step, sizeof step, &p->step[part][i]);
        len += (size_t)snprintf(text + len, LAB_GP_TEXT - len, "%s%s", i > 0 ? "; " : "", step);
    }
}
