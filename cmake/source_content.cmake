# What the content of a source is, which files it includes, and the digest of a set of files: for scripts
# that say whether a result was made by the code that is here (source_digests.cmake, app_digests.cmake).
# Paths are relative to ROOT, the folder that holds variants/ and inputs/, or absolute. An include counts when it
# is found there, or below APP_FOLDER if that is set.

# --- content of a file ----------------------------------------------------------------------------

# Characters that no source contains stand for what CMake's lists cannot hold, and for the borders of
# a preprocessor directive, where a line break does count.
string(ASCII 1 begin_directive)
string(ASCII 2 end_directive)
string(ASCII 3 end_macro_name)
string(ASCII 4 semicolon)
string(ASCII 5 open_bracket)
string(ASCII 6 close_bracket)
string(ASCII 7 joined_lines)

set(blank "[ \t${joined_lines}]")
set(include_line "${begin_directive}#${blank}*include[^\n]*")
set(pragma_once "${begin_directive}#${blank}*pragma${blank}+once[^\n]*")
set(line_comment "//[^\n${end_directive}]*")
set(block_comment "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/")
set(raw_string "R\"\\([^)]*\\)+([^)\"][^)]*\\)+)*\"")
set(string_literal "(u8|[uUL])?\"[^\"\\\\\n]*(\\\\.[^\"\\\\\n]*)*\"")
set(character "'([^'\\\\\n]|\\\\[^\n][^'\n]*)'")
set(identifier "[A-Za-z_][A-Za-z0-9_]*")
set(number "\\.?[0-9]([eEpP][+-]|'?[A-Za-z0-9_.])*")
# The longest first. '>' is taken alone where templates may end: formatters write both ">>" and "> >".
set(punctuator "\\.\\.\\.|->\\*|<=>|<<<|<<=|\\+\\+|--|->|\\.\\*|::|##|&&|\\|\\||<<|[-+*/%&|^!<>=]=")
set(other "[^ \t\n\\\\${joined_lines}]")
string(CONCAT token "${include_line}|${pragma_once}|${line_comment}|${block_comment}|${raw_string}|"
                    "${string_literal}|${character}|${identifier}|${number}|${punctuator}|${other}")
set(not_content "^(//|/\\*|${begin_directive}#${blank}*(include|pragma${blank}+once))")

# Content of a C++ or CUDA source: its tokens, one per line. Adjacent string literals are one.
function(tokens_of text result)
  string(REPLACE "\r" "" text "\n${text}\n")
  # A raw string with a delimiter could end anywhere for a regular expression: such a file counts as it
  # stands.
  if(NOT text MATCHES "R\"[^ ()\\\\\n\"]+\\(")
    string(REPLACE ";" "${semicolon}" text "${text}")
    string(REPLACE "[" "${open_bracket}" text "${text}")
    string(REPLACE "]" "${close_bracket}" text "${text}")
    string(REPLACE "\\\n" "${joined_lines}" text "${text}")
    string(REGEX REPLACE "(\n${blank}*)#([^\n]*)" "\\1${begin_directive}#\\2${end_directive}"
           text "${text}")
    # "#define f(x)" is a function, "#define f (x)" is not.
    string(REGEX REPLACE "(${begin_directive}#${blank}*define${blank}+${identifier})\\("
           "\\1${end_macro_name}(" text "${text}")
    string(REGEX MATCHALL "${token}" tokens "${text}")
    list(FILTER tokens EXCLUDE REGEX "${not_content}")
    list(JOIN tokens "\n" text)
    string(REPLACE "\"\n\"" "" text "${text}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Content of a CMake file: without comments, with blank space only where it separates.
function(commands_of text result)
  string(REGEX REPLACE "#[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
  string(REGEX REPLACE " *([()]) *" "\\1" text "${text}")
  string(STRIP "${text}" text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Where a path is, which may be relative to ROOT.
function(file_of path result)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE file)
  set(${result} "${file}" PARENT_SCOPE)
endfunction()

# Sets hash_of_<path> and, of a source, registers_<path>: the kinds of things it registers. Each file is
# read once.
function(read_source path)
  get_property(known GLOBAL PROPERTY hash_of_${path} SET)
  if(known)
    return()
  endif()
  file_of(${path} file)
  file(READ ${file} text)
  set(registers "")
  if(path MATCHES "\\.(cu|cuh|cpp|hpp)$")
    tokens_of("${text}" content)
    string(REGEX MATCHALL "\nregister_(variant|comparator|microbenchmark|ceiling)\n" registers
           "${content}")
    string(REGEX REPLACE "\n(register_)?" "" registers "${registers}")
  elseif(path MATCHES "\\.cmake$")
    commands_of("${text}" content)
  else()
    string(REPLACE "\r" "" content "${text}")
  endif()
  set(hash "")  # a file without content (one that only includes others) counts for nothing
  if(NOT content STREQUAL "")
    string(SHA256 hash "${content}")
  endif()
  set_property(GLOBAL PROPERTY hash_of_${path} "${hash}")
  set_property(GLOBAL PROPERTY registers_${path} "${registers}")
endfunction()

function(registered_in path result)
  read_source("${path}")
  get_property(registers GLOBAL PROPERTY registers_${path})
  set(${result} "${registers}" PARENT_SCOPE)
endfunction()

# --- which files ----------------------------------------------------------------------------------

# Does a file lie below APP_FOLDER? What lies below ROOT does not, where the app's project has the suite as a part.
function(is_of_app file result)
  set(${result} FALSE PARENT_SCOPE)
  if(APP_FOLDER)
    cmake_path(IS_PREFIX APP_FOLDER ${file} NORMALIZE below_app)
    cmake_path(IS_PREFIX APP_FOLDER ${ROOT} NORMALIZE suite_below_app)
    cmake_path(IS_PREFIX ROOT ${file} NORMALIZE below_suite)
    if(below_app AND NOT (suite_below_app AND below_suite))
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# The project's files that `path` includes, as paths from the root: found beside the file or from the
# root, as the compiler does. And the implementation of a header.
function(includes_of path result)
  get_property(known GLOBAL PROPERTY includes_of_${path} SET)
  if(NOT known)
    file_of(${path} file)
    file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    cmake_path(GET path PARENT_PATH folder)
    set(found "")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" name "${line}")
      set(of_app "")
      if(APP_FOLDER)
        set(of_app ${APP_FOLDER}/${name})
      endif()
      foreach(candidate ${folder}/${name} ${name} ${of_app})
        cmake_path(NORMAL_PATH candidate)
        file_of(${candidate} file)
        if(NOT EXISTS ${file})
          continue()
        endif()
        is_of_app(${file} below_app)
        if(below_app OR candidate MATCHES "^(apps|microbench|variants|inputs|tests/effects)/")
          list(APPEND found ${candidate})
          break()
        endif()
      endforeach()
    endforeach()
    if(path MATCHES "\\.(hpp|cuh)$")
      cmake_path(REPLACE_EXTENSION path LAST_ONLY cpp OUTPUT_VARIABLE implementation)
      file_of(${implementation} file)
      get_property(known GLOBAL PROPERTY hash_of_${implementation} SET)
      if(known OR EXISTS ${file})
        list(APPEND found ${implementation})
      endif()
    endif()
    set_property(GLOBAL PROPERTY includes_of_${path} "${found}")
  endif()
  get_property(found GLOBAL PROPERTY includes_of_${path})
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# `paths` and all that they include.
function(closure_of paths result)
  set(open ${paths})
  set(closed "")
  while(open)
    list(POP_FRONT open next)
    if(NOT next IN_LIST closed)
      list(APPEND closed ${next})
      includes_of(${next} more)
      list(APPEND open ${more})
    endif()
  endwhile()
  set(${result} "${closed}" PARENT_SCOPE)
endfunction()

# --- digests --------------------------------------------------------------------------------------

set(manifest "")

function(digest_of name files result)
  list(FILTER files EXCLUDE REGEX "^$")
  list(REMOVE_DUPLICATES files)
  list(SORT files)
  set(hashes "")
  foreach(path IN LISTS files)
    read_source(${path})
    get_property(hash GLOBAL PROPERTY hash_of_${path})
    if(hash)
      list(APPEND hashes ${hash})
      string(APPEND manifest "${name} ${hash} ${path}\n")
    endif()
  endforeach()
  if(ARGN)  # the options, which lie in no file
    string(SHA256 hash "${ARGN}")
    list(APPEND hashes ${hash})
    string(APPEND manifest "${name} ${hash} ${ARGN}\n")
  endif()
  list(REMOVE_DUPLICATES hashes)
  list(SORT hashes)
  string(SHA256 digest "${hashes}")
  set(${result} ${digest} PARENT_SCOPE)
  set(manifest "${manifest}" PARENT_SCOPE)
endfunction()
