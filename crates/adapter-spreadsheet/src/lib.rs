//! Spreadsheets in and out: xlsx and csv in bounded memory.
