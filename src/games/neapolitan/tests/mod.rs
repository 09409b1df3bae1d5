//! The rulings and worked examples of Best of Neapolitan, a step a line.
