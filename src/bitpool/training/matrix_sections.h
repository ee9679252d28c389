#pragma once

#include <string>

#include "bitpool/base/matrix.h"
#include "bitpool/io/container.h"
#include "bitpool/linalg/ridge.h"

// Matrices and linear maps as sections of a container, the same in every kind of file.
namespace bitpool {

// A section of f4 with dimensions columns × rows. A vector is a matrix of one column.
void AddMatrix(ContainerWriter& writer, const std::string& name, const MatrixF& matrix);

// Throw kCorrupt, naming the section, for an empty matrix or numbers that are not finite;
// ReadVector also for more than one column.
MatrixF ReadMatrix(const Container& container, const std::string& name);
VectorF ReadVector(const Container& container, const std::string& name);

// The sections `name`_weights and `name`_bias.
void AddLinearMap(ContainerWriter& writer, const std::string& name, const LinearMap& map);
// Throws kCorrupt, naming the section, also when the size of the bias is not the number of rows of
// the weights.
LinearMap ReadLinearMap(const Container& container, const std::string& name);
// The same for a map whose size is known: throws kCorrupt for any other.
LinearMap ReadLinearMap(const Container& container, const std::string& name, Index rows,
                        Index columns);

}  // namespace bitpool
