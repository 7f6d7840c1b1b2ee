# The page, embedded in the program. It is copied into the build folder and built there, so that
# nothing is written beside its sources; npm and Vite run only when something of it changed.
# Sets `page_table`, a source file of the web room, and `page_folder`.
set(page_source ${CMAKE_CURRENT_LIST_DIR})
set(page_folder ${CMAKE_BINARY_DIR}/page)
set(page_table ${CMAKE_BINARY_DIR}/page.cpp)

if(NOT TAGFERRY_UI)
    configure_file(${page_source}/no_page.cpp.in ${page_table} COPYONLY)
    return()
endif()

find_program(TAGFERRY_NODE node DOC "Node 20.19 or later: builds the page")
find_program(TAGFERRY_NPM npm DOC "npm: installs what builds the page")
if(TAGFERRY_NODE)
    execute_process(COMMAND ${TAGFERRY_NODE} --version
        OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^v" "" node_version "${node_version}")
endif()
if(NOT TAGFERRY_NODE OR NOT TAGFERRY_NPM OR node_version VERSION_LESS 20.19)
    message(FATAL_ERROR "The page is built with Node 20.19 or later and npm; found node "
        "${TAGFERRY_NODE} ${node_version}, npm ${TAGFERRY_NPM}. "
        "-DTAGFERRY_UI=OFF builds Tagferry without its page.")
endif()

set(page_tools ${page_source}/package.json ${page_source}/package-lock.json)
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS
    ${page_source}/src/* ${page_source}/public/* ${page_source}/tests/*)
set(page_roots
    ${page_source}/index.html ${page_source}/vite.config.ts ${page_source}/tsconfig.json)
file(MAKE_DIRECTORY ${page_folder})

set(page_installed ${page_folder}/installed)
add_custom_command(OUTPUT ${page_installed}
    COMMAND ${CMAKE_COMMAND} -E copy ${page_tools} ${page_folder}
    COMMAND ${TAGFERRY_NPM} ci --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${page_installed}
    WORKING_DIRECTORY ${page_folder}
    DEPENDS ${page_tools}
    COMMENT "Installing what builds the page" VERBATIM)
add_custom_command(OUTPUT ${page_table}
    COMMAND ${CMAKE_COMMAND} -E rm -rf src public tests
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${page_source}/src src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${page_source}/public public
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${page_source}/tests tests
    COMMAND ${CMAKE_COMMAND} -E copy ${page_roots} ${page_folder}
    COMMAND ${TAGFERRY_NODE} node_modules/vite/bin/vite.js build --logLevel warn
    COMMAND ${TAGFERRY_NODE} ${page_source}/embed.mjs dist ${page_table}
    WORKING_DIRECTORY ${page_folder}
    DEPENDS ${page_installed} ${page_files} ${page_roots} ${page_source}/embed.mjs
    COMMENT "Building the page" VERBATIM)
