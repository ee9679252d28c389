# What makes mistakes harder to use. Addresses of other libraries' functions are resolved at the start and then read-only; that is the
# linker's work alone. What costs something while the program runs is an option until its cost is known (docs/reliability.md).
option(BITPOOL_HARDENED "Compile with assertions of the standard library, stack protector and control-flow protection" OFF)

if(NOT BITPOOL_SANITIZED AND NOT BITPOOL_FUZZERS)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
if(BITPOOL_HARDENED)
  add_compile_options(-D_GLIBCXX_ASSERTIONS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    add_compile_options(-mbranch-protection=standard)
  else()
    add_compile_options(-fcf-protection)
  endif()
endif()
