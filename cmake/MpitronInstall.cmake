# What a site installs besides the program: job scripts, studies, documentation, Chart.js, manual pages and completion; and the
# Debian package that CPack makes of it. Needs neither root nor apt: any prefix will do.
include(GNUInstallDirs)

set(shared ${CMAKE_INSTALL_DATADIR}/mpitron)
install(DIRECTORY jobs/ DESTINATION ${shared}/jobs USE_SOURCE_PERMISSIONS)
install(DIRECTORY benchmarks/scaling DESTINATION ${shared}/benchmarks FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(FILES README.md CHANGELOG.md LICENSE THIRD-PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
find_file(MPITRON_CHART_LIBRARY chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
if(MPITRON_CHART_LIBRARY)
  file(REAL_PATH ${MPITRON_CHART_LIBRARY} chart)
  install(FILES ${chart} DESTINATION ${shared} RENAME chart.min.js)
endif()

# Pages and completion are what the program says of itself. They count as installed, so `make uninstall` finds them.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  execute_process(COMMAND $<TARGET_FILE:mpitron> manual --prefix \"\${prefix}\" COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB pages \"\${prefix}/share/man/man1/mpitron*.1\")
  foreach(page \${pages} \"\${prefix}/share/bash-completion/completions/mpitron\"
          \"\${prefix}/share/bash-completion/completions/mpitron-cuda\"
          \"\${prefix}/share/zsh/site-functions/_mpitron\" \"\${prefix}/share/fish/vendor_completions.d/mpitron.fish\")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${page}\")
  endforeach()")

# `cpack` in the build folder writes the package; dpkg-shlibdeps finds the libraries that it depends on.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mpitron)
set(CPACK_PACKAGE_CONTACT "the mpitron developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, man-db, hdf5-tools")
include(CPack)
