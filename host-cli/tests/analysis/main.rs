//! From frames to figures and texts, on recordings made of real frames.

mod compare;
mod completion;
mod gates;
mod kept;
mod qualify;
mod quality;
mod recording;
mod report;
mod scene;
mod summary;
