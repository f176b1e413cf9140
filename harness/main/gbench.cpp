#include "harness/gbench/gbench.hpp"

int main(int argc, char** argv) { return amasia::gbench_main(argc, argv); }
