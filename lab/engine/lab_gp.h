/* lab_gp.h - small programs that compute a hash, and that can be bred.
 *
 * A program has two parts, each of up to LAB_GP_STEPS steps: one runs for every 4 bytes of the
 * key, the other once at the end.  There are four 32-bit registers.  a, b and c start with fixed
 * values and keep theirs; w is the next 4 bytes (little-endian, padded with zeros) and, at the
 * end, the length.  The hash is the final a.  A step changes one register:
 *
 *     xor        a ^= b
 *     add        a += 0x9e3779b9          the operand is a register or a constant
 *     multiply   a *= w | 1               odd factors lose no information
 *     rotate     a = a <<< 13
 *     shift      a ^= a >> 16
 *     lookup     a ^= T[w & 255]          a table of 256 random words
 *
 * Every random change gives a valid program: there are no jumps, and no step can fail.
 * Source: Banzhaf, Nordin, Keller, Francone, "Genetic Programming", 1998 (linear programs). */
#ifndef LAB_ENGINE_LAB_GP_H
#define LAB_ENGINE_LAB_GP_H
#include "deja.h"

enum lab_gp_op {
    LAB_GP_XOR,
    LAB_GP_ADD,
    LAB_GP_MULTIPLY,
    LAB_GP_ROTATE,
    LAB_GP_SHIFT,
    LAB_GP_LOOKUP,
    LAB_GP_OPS
};

enum lab_gp_register {
    LAB_GP_A,
    LAB_GP_B,
    LAB_GP_C,
    LAB_GP_W,
    LAB_GP_REGISTERS,
    LAB_GP_CONSTANT = LAB_GP_REGISTERS /* the operand is the constant of the step */
};

struct lab_gp_step {
    uint8_t op, to, from; /* lab_gp_op; a register; a register or LAB_GP_CONSTANT */
    uint32_t constant;    /* also the distance of rotate and shift: lab_gp_distance */
};

#define LAB_GP_STEPS 8u
enum lab_gp_part {
    LAB_GP_LOOP,
    LAB_GP_END,
    LAB_GP_PARTS
};

struct lab_gp {
    uint8_t n[LAB_GP_PARTS];
    struct lab_gp_step step[LAB_GP_PARTS][LAB_GP_STEPS];
};

#define LAB_GP_TABLE 256u
#define LAB_GP_START UINT32_C(0x9e3779b9) /* of a; b starts with twice and c with 3 times this */

/* 1 .. 31: a shift by the full width is undefined. */
static inline unsigned lab_gp_distance(uint32_t constant)
{
    return 1 + constant % 31;
}

static inline unsigned lab_gp_length(const struct lab_gp *p)
{
    return p->n[LAB_GP_LOOP] + p->n[LAB_GP_END];
}

/* --- Keys and hashes -------------------------------------------------------- */

#define LAB_GP_LANES 32u /* keys that are hashed together */

/* Keys in the form that programs read: in groups of LAB_GP_LANES, sorted by length. */
struct lab_gp_keys {
    uint32_t n;
    uint32_t *length; /* rounded up to whole groups with copies of the longest */
    size_t *first;    /* for each group: its first word */
    uint32_t *word;   /* a group's words: the first of each key, then the second of each, ... */
};
#define LAB_GP_KEYS_MOST  65536u              /* keys */
#define LAB_GP_BYTES_MOST ((size_t)256 << 20) /* words of all groups, in bytes */
int lab_gp_keys_init(struct lab_gp_keys *k, const deja_slice *keys, uint32_t n, deja_error *err);
void lab_gp_keys_fini(struct lab_gp_keys *k);
/* The room for hashes: n, rounded up to whole groups. */
uint32_t lab_gp_room(uint32_t n);

/* The hash of every key, in the order of k: sorted by length. */
void lab_gp_hash(const struct lab_gp *p, const uint32_t table[LAB_GP_TABLE],
                 const struct lab_gp_keys *k, uint32_t *hash);

/* --- Breeding ------------------------------------------------------------- */

/* *dice is the state of mix_next. */
struct lab_gp lab_gp_random(uint64_t *dice);
void lab_gp_mutate(struct lab_gp *p, uint64_t *dice);
/* The beginning of one parent and the end of the other, for each part. */
struct lab_gp lab_gp_cross(const struct lab_gp *a, const struct lab_gp *b, uint64_t *dice);

/* --- Records ------------------------------------------------------------- */

/* A program as numbers that fit into a journal.  Numbers from an edited journal give a valid
 * program, too. */
#define LAB_GP_NUMBERS (LAB_GP_PARTS * (LAB_GP_STEPS + 1))
void lab_gp_pack(const struct lab_gp *p, double number[LAB_GP_NUMBERS]);
struct lab_gp lab_gp_unpack(const double number[LAB_GP_NUMBERS]);

/* "a ^= w; a *= 0x5bd1e995; b ^= T[w & 255]": one part, for people. */
#define LAB_GP_TEXT 400
void lab_gp_text(const struct lab_gp *p, enum lab_gp_part part, char text[LAB_GP_TEXT]);

#endif
