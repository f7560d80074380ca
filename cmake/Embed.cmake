# cmake -D IN=file -D OUT=file.c -D NAME=symbol -D HEADER=x.h -P Embed.cmake
# A file as a C array: NAME_csv and NAME_len.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
cmake_path(GET IN FILENAME name)
file(WRITE ${OUT} "/* ${name}, made by the build. */\n#include \"${HEADER}\"\n"
  "const char ${NAME}_csv[] = {\n${bytes}0};\n"
  "const size_t ${NAME}_len = sizeof ${NAME}_csv - 1;\n")
