# cmake -DROOT=<source tree, or installed headers> -DMANIFESTS=<folder> -DNAME=<app> -DAPP_FOLDER=<folder>
#       "-DSOURCES=<absolute paths, separated by ;>" -DOPTIONS=<compiler options> -DOUTPUT=<file>
#       -P app_digests.cmake
#
# Digests of an app that is no part of the tree (amasia_add_app), as source_digests.cmake has them of one that is: each
# of its sources that registers a variant or a comparator counts with what it includes, with those sources that register
# none, the ceilings and OPTIONS. A digest is the same whether the suite lies there as a tree or installed. And one for
# the app, over all its sources, for variants whose file has not their name.
#
# MANIFESTS has ceiling_manifest.txt and ground_manifest.txt, as the build of the suite wrote them.
cmake_policy(SET CMP0007 NEW)
cmake_policy(SET CMP0054 NEW)
cmake_policy(SET CMP0057 NEW)
include(${CMAKE_CURRENT_LIST_DIR}/source_content.cmake)

file(STRINGS ${MANIFESTS}/ground_manifest.txt lines)
foreach(line IN LISTS lines)
  string(REPLACE " " ";" included "${line}")
  list(POP_FRONT included hash path)
  set_property(GLOBAL PROPERTY hash_of_${path} "${hash}")
  set_property(GLOBAL PROPERTY registers_${path} "")
  set_property(GLOBAL PROPERTY includes_of_${path} "${included}")
endforeach()
file(STRINGS ${MANIFESTS}/ceiling_manifest.txt lines)
set(ceilings "")
foreach(line IN LISTS lines)
  string(REPLACE " " ";" line "${line}")
  list(POP_FRONT line hash path)
  # Under a name of its own: a header there may be another by now than the ceilings were compiled with.
  set_property(GLOBAL PROPERTY hash_of_ceiling:${path} "${hash}")
  list(APPEND ceilings ceiling:${path})
endforeach()

set(variants "")
set(shared "")
foreach(path IN LISTS SOURCES)
  registered_in(${path} registers)
  if("variant" IN_LIST registers OR "comparator" IN_LIST registers)
    list(APPEND variants ${path})
  else()
    list(APPEND shared ${path})
  endif()
endforeach()
closure_of("${shared}" shared)

set(options "options: ${OPTIONS}")
set(all ${shared} ${ceilings})
set(lines "")
foreach(path IN LISTS variants)
  cmake_path(GET path STEM LAST_ONLY name)
  closure_of(${path} own)
  list(APPEND all ${own})
  digest_of(${NAME}/${name} "${own};${shared};${ceilings}" digest "${options}")
  string(APPEND lines "    {\"${NAME}/${name}\", \"${digest}\"},\n")
endforeach()
digest_of(${NAME} "${all}" digest "${options}")
string(APPEND lines "    {\"${NAME}\", \"${digest}\"},\n")

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
     "// What the sources of ${NAME} are, for its results (app_digests.cmake).\n#include \"harness/registry.hpp\"\n
namespace {\nconst bool registered = amasia::register_source_digests({\n${lines}});\n}\n")
cmake_path(REPLACE_EXTENSION OUTPUT LAST_ONLY txt OUTPUT_VARIABLE manifest_file)
file(CONFIGURE OUTPUT ${manifest_file} CONTENT "${manifest}" @ONLY)
