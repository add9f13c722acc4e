export type Figures = Readonly<Record<string, number>>;
/** Figures of benches by name. */
export type Limits = Readonly<Record<string, Figures>>;
export interface Measured {
  readonly values: Figures;
  readonly attempts: number;
  /** The median of the attempts, not the least of them. */
  readonly isMedian?: boolean;
}
export declare const LIMITS: {
  readonly stream: Figures;
  readonly list: Figures;
  readonly prompt: Figures;
  readonly table: Figures;
  readonly code: Figures;
  readonly activation: Figures;
  readonly page: Figures;
  readonly session: Figures;
};
export declare const ATTEMPTS: number;
/** @param measure - gets the number of attempts before this one */
export declare function leastOf(
  measure: (attempt: number) => Promise<Figures>,
  limits?: Figures,
  attempts?: number,
): Promise<Measured>;
export declare function medians<Name extends string>(
  measures: Readonly<Record<Name, (round: number) => Promise<Figures>>>,
  times?: number,
): Promise<Record<Name, Measured>>;
export declare function report(results: Readonly<Record<string, Measured>>, limits?: Limits): boolean;
