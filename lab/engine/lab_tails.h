/* lab_tails.h - tails of distributions: how likely is a value at least this far out?
 *
 * Every p-value and interval of the lab comes from here.  "above" is P(X > x), "at_least" is
 * P(X >= x), "at_most" is P(X <= x); "beyond" is the inverse: the x that X exceeds with this
 * probability. */
#ifndef LAB_ENGINE_LAB_TAILS_H
#define LAB_ENGINE_LAB_TAILS_H

/* The standard normal distribution. */
double lab_normal_above(double z);
double lab_normal_outside(double z); /* on both sides: P(|Z| > |z|) */
double lab_normal_beyond(double tail);

/* Student's t with df degrees of freedom; df = 0 is the normal distribution (known sigma). */
double lab_student_above(double t, double df);
double lab_student_outside(double t, double df);
double lab_student_beyond(double tail, double df);

/* F with df1 and df2 degrees of freedom; chi-square with df. */
double lab_fisher_above(double f, double df1, double df2);
double lab_chi2_above(double x, double df);

/* Counts of rare events with this mean. */
double lab_poisson_at_most(double count, double mean);
double lab_poisson_at_least(double count, double mean);
/* The means for which the count is not among the outermost `outer` on either side. */
struct lab_range {
    double low, high;
};
struct lab_range lab_poisson_range(double count, double outer);

/* Hits in n trials of probability p each. */
double lab_binomial_at_most(double count, double n, double p);
double lab_binomial_at_least(double count, double n, double p);
/* The probabilities for which this count is not among the outermost (Clopper, Pearson 1934). */
struct lab_range lab_binomial_range(double count, double n, double outer);

/* Twice the smaller tail, at most 1: the p-value of a count on both sides. */
double lab_both_tails(double at_most, double at_least);

#endif
