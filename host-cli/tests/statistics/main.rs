//! The statistics of comparisons, against other programs and against simulated devices.

mod calibration;
mod references;
mod simulated;
