#include "harness/user_kernel/drawn.hpp"

namespace amasia {

void draw_on_host(std::byte* to, const Draws& d) {
  for (std::size_t i = 0; i < d.count; ++i) {
    if (is_float(d.type)) {
      set_element(d.type, to, i, drawn_real(d, i));
    } else {
      set_element(d.type, to, i, drawn_integer(d, i));
    }
  }
}

void alter_on_host(std::byte* data, const Alteration& a) {
  for (std::size_t piece = 0; piece < a.pieces(); ++piece) alter_piece(data, a, piece);
}

}  // namespace amasia
