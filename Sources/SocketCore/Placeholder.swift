import FrameCodec
