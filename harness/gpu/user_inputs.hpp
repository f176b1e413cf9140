// Inputs of problems loaded at run time, made on the device: a new one for each round costs no
// copy.
#pragma once

#include "harness/user_kernel/drawn.hpp"

namespace amasia {

/// Asynchronous, in the order of the stream. Throw CudaError.
void draw_on_device(std::byte* to, const Draws& draws, Stream stream);
void alter_on_device(std::byte* data, const Alteration& alteration, Stream stream);

}  // namespace amasia
