/* formats.c - the list of foreign formats. */
#include "tools/foreign/formats.h"
#include "tools/foreign/foreign.h"
#include <string.h>

static const struct foreign_format *const formats[] = {
    &foreign_dcso,   &foreign_guava,         &foreign_guava_chars, &foreign_redisbloom,
    &foreign_spark,  &foreign_spark_2,       &foreign_parquet,     &foreign_sbbf,
    &foreign_rbloom, &foreign_rbloom_sha256,
};

const struct foreign_format *foreign_format_at(size_t i)
{
    return i < sizeof formats / sizeof formats[0] ? formats[i] : NULL;
}

const struct foreign_format *foreign_format_named(const char *name)
{
    for (size_t i = 0; foreign_format_at(i); i++)
        if (strcmp(name, formats[i]->name) == 0)
            return formats[i];
    return NULL;
}

const struct foreign_format *foreign_detect(const struct foreign_head *head)
{
    for (size_t i = 0; foreign_format_at(i); i++)
        if (formats[i]->is && formats[i]->is(head))
            return formats[i];
    return NULL;
}
