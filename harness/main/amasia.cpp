#include "harness/cli/command_line.hpp"

int main(int argc, char** argv) { return amasia::amasia_main(argc, argv); }
