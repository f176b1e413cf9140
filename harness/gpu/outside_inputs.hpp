// Inputs of problems that were brought, made on the device: a new one for each round costs no copy.
#pragma once

#include "harness/outside/drawn.hpp"

namespace amasia {

/// Asynchronous, in the order of the stream. Throw CudaError.
void draw_on_device(std::byte* to, const Draws& draws, Stream stream);
void alter_on_device(std::byte* data, const Alteration& alteration, Stream stream);

}  // namespace amasia
