/** Keys of one entry at most. Longer statements write several entries, and no cursor stands further inside one. */
export const KEYS_PER_ENTRY = 1000
