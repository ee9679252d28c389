# The manual and the completion of shells, which the program writes about itself, and the Debian package (`./run package`).
set(help_dir ${CMAKE_BINARY_DIR}/help)
# Written as for any user: paths of the current one must not be in it.
add_custom_command(
  OUTPUT ${help_dir}/written
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${help_dir}
  COMMAND ${CMAKE_COMMAND} -E env --unset=BITPOOL_DATA --unset=XDG_CACHE_HOME HOME=~
          $<TARGET_FILE:bitpool_program> --write-help ${help_dir}
  COMMAND sh -c "gzip -9n '${help_dir}'/man/*.1"
  COMMAND ${CMAKE_COMMAND} -E touch ${help_dir}/written
  DEPENDS bitpool_program
  VERBATIM)
add_custom_target(bitpool_help ALL DEPENDS ${help_dir}/written)

install(DIRECTORY ${help_dir}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
set(share ${CMAKE_INSTALL_DATAROOTDIR})
install(FILES ${help_dir}/completion/bitpool DESTINATION ${share}/bash-completion/completions COMPONENT program)
install(FILES ${help_dir}/completion/_bitpool DESTINATION ${share}/zsh/vendor-completions COMPONENT program)
install(FILES ${help_dir}/completion/bitpool.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT program)
install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# Of these, parts are in the program itself: archives and headers with code.
foreach(package libopenblas-dev libeigen3-dev libcli11-dev nlohmann-json3-dev libboost-dev)
  install(FILES /usr/share/doc/${package}/copyright RENAME copyright.${package} DESTINATION ${CMAKE_INSTALL_DOCDIR}
          COMPONENT program OPTIONAL)
endforeach()

# What the program is made of, with versions and licences; `./run package` writes it when the program is linked.
install(FILES ${CMAKE_BINARY_DIR}/bitpool.cdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build)
# The project has no address of its own. Whoever passes a package on names himself as for any other: by DEBFULLNAME and DEBEMAIL.
set(contact_name "The Bitpool authors")
set(contact_address "authors@bitpool.invalid")
if(DEFINED ENV{DEBEMAIL})
  set(contact_address $ENV{DEBEMAIL})
  if(DEFINED ENV{DEBFULLNAME})
    set(contact_name $ENV{DEBFULLNAME})
  endif()
endif()
set(CPACK_PACKAGE_CONTACT "${contact_name} <${contact_address}>")
set(CPACK_STRIP_FILES ON)
# The program alone: the libraries are for those who build.
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME bitpool)
set(CPACK_DEBIAN_PROGRAM_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS npm) # `bitpool data get` fetches some sets with it
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "find similar pictures and duplicates by compact binary codes")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "Indexes folders of pictures, finds pictures like a given one and duplicates
that were resized, cropped or edited, in the shell or on a page in the browser.
For research: codes are learned from vectors or local features by methods of
the literature, measured, and searched exactly.")
include(CPack)
