# Links the command as one static file whose bytes depend only on the sources and the compiler: no
# paths of the build, no dates, and a build id that is a checksum of the content.
target_compile_options(dj_objects PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_compile_options(dj_cli PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_compile_options(deja_cli PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
# musl gives threads 128 KiB of stack unless the file asks for more.
target_link_options(deja_cli PRIVATE -static -s LINKER:--build-id=sha1 LINKER:-z,stack-size=8388608)
