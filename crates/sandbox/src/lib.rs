//! An emulator of the outside world: acquirer, telephony, mailbox and webhook receiver.
