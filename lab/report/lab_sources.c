/* lab_sources.c - the papers; see lab_sources.h. */
#include "lab/report/lab_sources.h"
#include <stdio.h>

const struct lab_source lab_sources[] = {
    {"thesis", "T. H. Gøytil, A. Lundberg",
     "A novel spatio-temporal scheme for reducing the rate of false positives in Bloom Filter "
     "based URL-caching",
     "master's thesis, University of Agder, 2010"},
    {"multi-layer paper", "S. Saha, S. Navale, M. Navandar",
     "A Multi-Layer Bloom Filter for Duplicated URL Detection",
     "course paper, about 2021 (no year printed), with measurements in the repository "
     "saptarsi96/Algo-Term-Project; after the paper of the same title by Z. Cen, J. Xu, J. Sun, "
     "ICACTE 2010"},
    {"keyword-search report", "L. Sharma",
     "Searching in large dataset Using Multi-layered Bloom filter", "report, NIT Trichy, 2021"},
    {"lecture on compressed caches", "author not named",
     "Lecture 5: Compressed Cache and Bloom Filters", "lecture notes, no year printed"},
    {"lecture notes", "author not named", "Bloom Filter; Spectral Bloom Filter",
     "lecture notes, no year printed"},
    {0},
};

struct lab_citation lab_cite(const struct lab_source *source)
{
    struct lab_citation c;
    (void)snprintf(c.s, sizeof c.s, "%s, \"%s\", %s", source->author, source->title,
                   source->published);
    return c;
}
