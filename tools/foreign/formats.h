/* formats.h - the foreign formats; each is described in its own file. */
#ifndef TOOLS_FOREIGN_FORMATS_H
#define TOOLS_FOREIGN_FORMATS_H

struct foreign_format;
extern const struct foreign_format foreign_dcso;
extern const struct foreign_format foreign_guava, foreign_guava_chars;
extern const struct foreign_format foreign_redisbloom;
extern const struct foreign_format foreign_spark, foreign_spark_2;
extern const struct foreign_format foreign_parquet, foreign_sbbf;
extern const struct foreign_format foreign_rbloom, foreign_rbloom_sha256;

#endif
