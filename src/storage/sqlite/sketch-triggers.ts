/** The base-two logarithm of how many of a scope's numbers are one block. */
export const blockBits = 10

/** SQL for the block in which a memory's sketch lies. */
function blockOf(column: string): string {
  return `${column} >> ${blockBits}`
}

/** Marks the blocks of sketches that came while the triggers rested. */
export const markSketches = `INSERT INTO memory_sketch_block (block, mark)
  SELECT block, random() >> 11 FROM (SELECT DISTINCT ${blockOf('memory_id')} AS block FROM memory_sketch);`

/**
 * The triggers of a mark for each block of sketches, which any program's change of one of them replaces: sketches that are
 * kept in memory are read again where their mark differs. It is a random number, so that no mark returns when a block's
 * memories are removed and others take their numbers.
 */
export const sketchTriggers = `
  CREATE TRIGGER memory_sketch_added AFTER INSERT ON memory_sketch BEGIN ${marked('new')} END;
  CREATE TRIGGER memory_sketch_changed AFTER UPDATE ON memory_sketch BEGIN ${marked('old')} ${marked('new')} END;
  CREATE TRIGGER memory_sketch_removed AFTER DELETE ON memory_sketch BEGIN
    ${marked('old')}
    DELETE FROM memory_sketch_block WHERE block = ${blockOf('old.memory_id')} AND NOT EXISTS (
      SELECT 1 FROM memory_sketch WHERE memory_id BETWEEN (${blockOf('old.memory_id')}) << ${blockBits}
        AND ((${blockOf('old.memory_id')}) << ${blockBits}) + ${2 ** blockBits - 1});
  END;`

/** 53 bits, all of which a JavaScript number holds. */
function marked(row: 'old' | 'new'): string {
  return `INSERT OR REPLACE INTO memory_sketch_block (block, mark) VALUES (${blockOf(`${row}.memory_id`)}, random() >> 11);`
}
