#pragma once

namespace bitpool {

// From now on no connection to the listening socket begins; those that have begun can be completed
// and accepted. A client that comes now tries again within a second, and is refused once the socket
// is closed. Does nothing where the system has no such means.
void RefuseHandshakes(int listening_socket);

}  // namespace bitpool
