# bitpool_embed(OUT NAME1 FILE1 NAME2 FILE2 ...) writes a source with the function bitpool::EmbeddedFiles() of
# serve/page.h, which has the bytes of the files in it. The assembler reads them, so that they cost no compiling.
function(bitpool_embed out)
  set(blobs "")
  set(declarations "")
  set(entries "")
  set(number 0)
  set(files "")
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments name file)
    list(APPEND files ${file})
    string(APPEND blobs "asm(\".pushsection .rodata\\n.hidden bitpool_file_${number}, bitpool_file_${number}_end\\n\"
    \".global bitpool_file_${number}, bitpool_file_${number}_end\\n\"
    \"bitpool_file_${number}:\\n.incbin \\\"${file}\\\"\\nbitpool_file_${number}_end:\\n.byte 0\\n.popsection\");\n")
    string(APPEND declarations "extern const char bitpool_file_${number}[];\nextern const char bitpool_file_${number}_end[];\n")
    string(APPEND entries "      {\"${name}\", {bitpool_file_${number}, bitpool_file_${number}_end}},\n")
    math(EXPR number "${number} + 1")
  endwhile()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "// Written by cmake/EmbedFiles.cmake.
#include \"bitpool/serve/page.h\"

@blobs@
extern \"C\" {
@declarations@}

namespace bitpool {

std::vector<EmbeddedFile> EmbeddedFiles() {
  return {
@entries@  };
}

}  // namespace bitpool
")
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${files}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
