#include "harness/text/interrupt.hpp"

#include <csignal>

namespace amasia {
namespace {

volatile sig_atomic_t interrupt_signal = 0;
void note_interrupt(int signal) { interrupt_signal = signal; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_signal != 0; }

}  // namespace amasia
