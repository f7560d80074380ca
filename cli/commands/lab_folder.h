/* lab_folder.h - the site that `deja lab replay --graph` crawls again. */
#ifndef CLI_COMMANDS_LAB_FOLDER_H
#define CLI_COMMANDS_LAB_FOLDER_H
#include "lab/engine/lab_graph.h"
#include <stdatomic.h>

/* Reads the folder of a finished crawl, or a file with one link per line (lab_site.h). */
int lab_folder_read(struct lab_graph *g, const char *path, const atomic_bool *stop,
                    deja_error *err);

#endif
