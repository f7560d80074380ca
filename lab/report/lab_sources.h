/* lab_sources.h - the papers: who wrote them, their titles and years.  The page, `deja lab` and
 * docs/lab.md name them as here. */
#ifndef LAB_REPORT_LAB_SOURCES_H
#define LAB_REPORT_LAB_SOURCES_H

struct lab_source {
    const char *name; /* as in lab_experiment.reproduces */
    const char *author;
    const char *title;
    const char *published; /* what, where, when */
};
/* NULL as a name ends the list. */
extern const struct lab_source lab_sources[];

/* "AUTHOR, "TITLE", PUBLISHED". */
struct lab_citation {
    char s[400];
};
struct lab_citation lab_cite(const struct lab_source *source);

#endif
