//! Rate limits counted in memory.
