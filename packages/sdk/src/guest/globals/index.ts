// The globals of an isolate that its engine does not bring. Evaluated before anything of the user's.

export {};
