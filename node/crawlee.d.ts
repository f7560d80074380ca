// Types of deja/crawlee.  docs/node.md describes its use.
import type { Filter, OpenOptions } from './index.js';

/** What is used of a request: Crawlee's Request has it. */
export interface SeenRequest {
  url: string;
  uniqueKey: string;
}

export interface SeenOptions extends Omit<OpenOptions, 'mode'> {
  /** Record requests that failed for good, too; by default the next run tries them again. */
  failed?: boolean;
  /** Make the file survive a power cut this often, in seconds; default 5. */
  syncSeconds?: number;
}

export interface WrapOptions<R extends SeenRequest = SeenRequest> {
  /** True for requests that are never dropped, such as start pages that are read for new links. */
  again?: (request: R) => boolean;
  /** Crawlee's class Request; by default that of the application's Crawlee. */
  Request?: new (options: any) => R;
}

/** Drops requests that were handled in this run or an earlier one. */
export class SeenRequests {
  /** A filter file, which is created if it does not exist, or a filter of yours. */
  constructor(where: string | URL | Filter, options?: SeenOptions);
  readonly filter: Filter;
  readonly counts: { offered: number; dropped: number; recorded: number };
  /** Returns the queue as a queue that adds only requests that are not seen. */
  wrap<Queue extends object>(queue: Queue, options?: WrapOptions<any>): Queue;
  has(request: SeenRequest | string): boolean;
  record(request: SeenRequest | string): void;
  sync(): void;
  /** Begins the next visit: every page is new again. */
  rotate(options?: Parameters<Filter['rotate']>[0]): void;
  close(): void;
  // @ts-ignore: a library without this symbol
  [Symbol.dispose](): void;
}
