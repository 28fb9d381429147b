import SocketCore
