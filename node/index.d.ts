// Types of the package deja.  docs/node.md describes every call.
/// <reference types="node" />
import type { Transform, TransformOptions, Writable } from 'node:stream';

/** A string is encoded as UTF-8; a surrogate without its partner becomes U+FFFD. */
export type Key = string | Uint8Array;
/** Keys, or a Uint8Array (a Buffer) whose lines are the keys. */
export type Keys = Iterable<Key> | Uint8Array;

export type Kind =
  | 'blocked' | 'classic' | 'layered' | 'spectral' | 'paired' | 'scalable' | 'window' | 'static' | 'exact';
export type Hash = 'xxh3' | 'siphash' | 'jenkins' | 'murmur2' | 'murmur3' | 'md5' | 'sha1' | 'mixed';
export type Profile = 'safe' | 'crawl' | 'gsb' | 'scrapy' | 'shape';

/** A URL profile whose list of dropped query parameters is changed. */
export interface ProfileOptions {
  /** Default: 'crawl', the one that drops parameters. */
  profile?: Profile;
  /** Parameters to drop as well; a name may end in `*`. */
  drop?: Key[];
  /** Parameters to keep although the list has them. */
  keep?: Key[];
  /** False: the list is `drop` alone. */
  builtin?: boolean;
}

/** The options of the library's table. */
export interface LibraryOptions {
  /** Expected number of keys: the first size of a filter that grows. */
  capacity?: number | bigint;
  /** False-positive rate at capacity; default 1e-6. */
  fpRate?: number;
  /** Bytes; give it instead of the capacity or the rate, which deja then computes. */
  memory?: number | bigint;
  /** Default: 'blocked'; a filter that grows is 'scalable', with parts of this kind. */
  kind?: Kind;
  hashes?: number;
  filters?: number;
  machine?: number;
  hash?: Hash;
  multiplier?: number;
  cacheLines?: number;
  partKind?: Kind;
  growth?: number;
  tightening?: number;
  fingerprintBits?: 8 | 16 | 32;
  counterBits?: 4 | 8 | 16 | 32;
  minimalIncrease?: boolean;
  spread?: boolean;
  /** Store the days on which each key was first and last seen (kind exact). */
  dates?: boolean;
  deletions?: number | bigint;
  generations?: number;
  windowSeconds?: number | bigint;
  layers?: number;
  layeredPaper?: boolean;
  layeredWords?: boolean;
  delimiter?: string | number;
  /** A number instead of a secret, for the same filter in every run. */
  seed?: number | bigint;
  /** 32 secret bytes, which are not stored in the file; default: random and stored. */
  key?: Uint8Array;
  /** Compare canonical URLs. */
  url?: Profile | ProfileOptions;
  format?: number | bigint;
}

export interface FilterOptions extends LibraryOptions {
  /** False: keep the size; true: fail if the options rule out growth. */
  grow?: boolean;
}

export interface OpenOptions extends FilterOptions {
  /**
   * 'a' (default): open for adding, or create; 'r': open for reading; 'r+': open for adding; 'x':
   * create, and fail if the file exists; 'w': create, replacing any old filter.
   */
  mode?: 'a' | 'r' | 'r+' | 'x' | 'w';
  /** Open a file with one damaged sync record and use the other record. */
  repair?: boolean;
  /** Mode bits of a new file; by default only its owner can read a file that contains its key. */
  permissions?: number;
}

export interface CreateOptions extends FilterOptions {
  replace?: boolean;
  permissions?: number;
}

export interface SaveOptions {
  replace?: boolean;
  permissions?: number;
}

/** A number, or a bigint beyond Number.MAX_SAFE_INTEGER. */
export type Whole = number | bigint;

export interface Stats {
  kind: Kind;
  partKind: Kind;
  parts: number;
  filters: number;
  hash: Hash;
  hashes: number;
  growth: number;
  profile: Profile | undefined;
  fpRate: number;
  tightening: number;
  urlRules: Whole;
  capacity: Whole;
  bytes: Whole;
  offered: Whole;
  keys: Whole;
  entries: Whole;
  excess: Whole;
  format: Whole;
  syncs: Whole;
  flags: number;
  keyed: number;
  unclean: number;
  counterBits: number;
  visit: Whole;
  visitsBefore: Whole;
  lastDistinct: Whole;
  lastLost: number;
  unions: Whole;
  folds: Whole;
  removed: Whole;
  refused: Whole;
  hidden: Whole;
  generations: Whole;
  windowSeconds: Whole;
  clockBehind: Whole;
}

/** With { body: true }, which reads the whole filter. */
export interface BodyStats extends Stats {
  bits: Whole;
  bitsSet: Whole;
  fill: number;
  distinct: number;
  /** False-positive rate at the current fill. */
  fpNow: number;
  /** Expected number of new keys mistaken for seen. */
  lost: number;
  missed: number;
  bitsExpected: number;
  bitsSigma: number;
  largest: Whole;
  saturated: Whole;
  deletions: Whole;
  deletionsCapacity: Whole;
  fnNow: number;
  crowded: Whole;
  turns: Whole;
  windowKeys: Whole;
  generationKeys: Whole[];
  generationAge: Whole[];
  familiar: Whole;
  layers: number;
  layersMost: number;
  delimiter: Whole;
  oldestDay: Whole;
  newestDay: Whole;
  exceptions: Whole;
  mergedParts: number;
  otherKeys: number;
  mergedRate: number;
  cacheLines: Whole;
  machine: Whole;
  keyCheck: Whole;
}

export interface Plan {
  kind: Kind;
  hash: Hash;
  hashes: number;
  filters: number;
  capacity: Whole;
  fpRate: number;
  bits: Whole;
  bytes: Whole;
  bitsPerKey: number;
  lost: number;
  cacheLines: Whole;
}

export type Capability =
  | 'add' | 'build' | 'remove' | 'count' | 'grow' | 'expire' | 'forget' | 'fill' | 'repeat' | 'merge' | 'fold'
  | 'overlap' | 'prefix' | 'layer' | 'date';

export type ErrorCode =
  | 'DEJA_EINVAL' | 'DEJA_ENOMEM' | 'DEJA_EIO' | 'DEJA_EFORMAT' | 'DEJA_EVERSION' | 'DEJA_EFULL' | 'DEJA_ESPACE'
  | 'DEJA_ENOTSUP' | 'DEJA_EMISMATCH' | 'DEJA_EBUSY' | 'DEJA_ENOTURL' | 'DEJA_EUNKNOWN';

export class DejaError extends Error {
  readonly code: ErrorCode;
  /** The system's reason for DEJA_EIO: 'ENOENT', 'ENOSPC' ... */
  readonly system?: string;
  readonly errno?: number;
  /** How many keys of a batch were finished before it failed. */
  readonly done?: number;
}

/** A set of keys in very little memory: a key that was added is found. */
export class Filter {
  /** A filter in memory. */
  constructor(options?: FilterOptions);
  /** Opens a filter file; creates it if it does not exist. */
  static open(path: string | URL, options?: OpenOptions): Filter;
  /** Creates a filter file. */
  static create(path: string | URL, options?: CreateOptions): Filter;
  /** Builds a static filter, the smallest kind, from all its keys. */
  static build(keys: Keys, options?: LibraryOptions & SaveOptions & { path?: string | URL }): Filter;
  /** Makes a filter in memory from what toBytes() returned, or from the bytes of a file. */
  static fromBytes(bytes: Uint8Array, options?: LibraryOptions): Filter;
  /** Makes an empty filter that can be merged with another. */
  static like(other: Filter, options?: SaveOptions & { path?: string | URL }): Filter;

  /** Adds a key; returns whether it was new. */
  add(key: Key): boolean;
  has(key: Key): boolean;
  /** Undoes one add (kinds spectral and paired); false: the key is absent. */
  remove(key: Key): boolean;
  /** How many times a key was added (kind spectral). */
  count(key: Key): Whole;
  /** Whether a URL at or below this prefix was added (kind layered). */
  hasPrefix(prefix: Key): boolean;
  /** The days on which a key was seen (dates: true). */
  dates(key: Key): { first: Date; last: Date } | undefined;

  /** 1 for each key that was new, otherwise 0, in order. */
  addMany(keys: Keys): Uint8Array;
  hasMany(keys: Keys): Uint8Array;
  removeMany(keys: Keys): Uint8Array;
  countMany(keys: Keys): BigUint64Array;
  addManyAsync(keys: Keys): Promise<Uint8Array>;
  hasManyAsync(keys: Keys): Promise<Uint8Array>;
  removeManyAsync(keys: Keys): Promise<Uint8Array>;
  countManyAsync(keys: Keys): Promise<BigUint64Array>;

  /** How many keys were added. */
  readonly size: Whole;
  readonly path: string | undefined;
  readonly closed: boolean;
  /** How many keys given to a filter with a URL profile are not URLs. */
  readonly notUrls: Whole;
  readonly capabilities: Capability[];
  stats(options: { body: true }): BodyStats;
  stats(options?: { body?: boolean }): Stats;

  /** Makes every key added so far survive a power cut. */
  sync(): void;
  /** Syncs and closes. */
  close(): void;
  /** Adds every key of another filter. */
  merge(other: Filter): this;
  overlap(other: Filter): { keys: number; sigma: number };
  /** Halves the filter this many times. */
  fold(times?: number): this;
  /** Begins the next visit: empties the filter and changes its hash functions. */
  rotate(options?: LibraryOptions): this;
  /** How many keys were last seen before a day. */
  older(before: Date): Whole;
  /** Removes them; returns how many. */
  expire(before: Date): Whole;
  /** Copies the filter to a new file. */
  save(path: string | URL, options?: SaveOptions): Filter;
  toBytes(): Buffer;
  toString(): string;
  // @ts-ignore: a library without these symbols
  [Symbol.dispose](): void;
  // @ts-ignore: see above
  [Symbol.asyncDispose](): Promise<void>;
}

export interface DedupOptions extends FilterOptions {
  /** A filter file that is kept between runs. */
  path?: string | URL;
  /** A filter of yours, which the stream uses alone until it closes. */
  filter?: Filter;
  /** Where the lines go at last: a line counts as seen only once this stream has written it. */
  destination?: Writable;
  highWaterMark?: TransformOptions['highWaterMark'];
}

export interface Dedup extends Transform {
  /** The filter of the lines. */
  readonly seen: Filter;
  readonly counts: { bytes: number; kept: number };
}

/** A Transform stream that passes each line the first time it is seen. */
export function dedup(options?: DedupOptions): Dedup;

/** The sizes and rates of a filter with these options. */
export function plan(options?: FilterOptions): Plan;
/** Reads a whole filter file and compares its checksums. */
export function verify(path: string | URL): void;
/** Turns access to a truncated file into an error, for all filters of this process. */
export function guardFiles(): void;

export function canonicalize(url: Key, profile?: Profile | ProfileOptions): string;
/** The URL that a link in the page `base` points to. */
export function resolve(base: Key, link: Key): string;
export function layers(url: Key): string[];
/** The expressions that Safe Browsing looks up for a URL. */
export function expressions(url: Key): string[];

/** The version of the library. */
export const version: string;
/** The instruction set that blocked filters use here. */
export const simd: string;
