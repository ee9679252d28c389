#pragma once

namespace bitpool::python {

// Lets what the library throws arrive in Python as the classes of bitpool/_errors.py.
void TranslateErrors();

}  // namespace bitpool::python
