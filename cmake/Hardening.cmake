# What makes mistakes harder to exploit; docs/reliability.md has what it costs. Sanitizers find more, and want none of it.
option(BITPOOL_HARDENED "Compile with assertions of the standard library, stack protector and control-flow protection" ON)
if(BITPOOL_SANITIZED OR BITPOOL_FUZZERS)
  set(BITPOOL_HARDENED OFF)
endif()

if(NOT BITPOOL_SANITIZED AND NOT BITPOOL_FUZZERS)
  # Addresses of other libraries' functions are resolved at the start and then read-only.
  add_link_options(-Wl,-z,relro,-z,now)
endif()
if(BITPOOL_HARDENED)
  add_compile_options(-D_GLIBCXX_ASSERTIONS -fstack-protector-strong)
  add_compile_options($<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>) # only optimised code can be
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    add_compile_options(-mbranch-protection=standard)
  else()
    add_compile_options(-fcf-protection)
  endif()
endif()
