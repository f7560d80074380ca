/* replay_main.c - runs a fuzzer's entry point on the files named on the command line, and on the
 * files of the folders named there.  It replaces libFuzzer, so that the corpus is a test in every
 * preset.
 *
 * The empty input is always tried.  Each input gets a block of exactly its size, so that the
 * address sanitizer detects a read just past it. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long replayed;

static void replay_file(const char *path, size_t size)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!in || !data || fread(data, 1, size, in) != size) {
        fprintf(stderr, "replay: cannot read %s: %s\n", path, strerror(errno));
        exit(2);
    }
    fclose(in);
    fprintf(stderr, "%s\n", path); /* the last line before a crash names its cause */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
}

static void replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    if (!S_ISDIR(st.st_mode)) {
        replay_file(path, (size_t)st.st_size);
        return;
    }
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    if (n < 0) {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    for (int i = 0; i < n; i++) {
        char inner[4096];
        int len = snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && len > 0 && (size_t)len < sizeof inner)
            replay(inner);
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    uint8_t nothing = 0;
    LLVMFuzzerTestOneInput(&nothing, 0);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%lu inputs replayed\n", replayed);
    if (argc > 1 && replayed == 0) {
        fprintf(stderr, "replay: the corpus is empty\n");
        return 1;
    }
    return 0;
}
