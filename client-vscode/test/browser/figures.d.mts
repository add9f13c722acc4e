export type Figures = Readonly<Record<string, number>>;
/** Figures of benches by name. */
export type Limits = Readonly<Record<string, Figures>>;
export interface Measured {
  readonly values: Figures;
  readonly attempts: number;
}
export declare const LIMITS: {
  readonly stream: Figures;
  readonly list: Figures;
  readonly activation: Figures;
  readonly session: Figures;
};
export declare const ATTEMPTS: number;
/** @param measure - gets the number of attempts before this one */
export declare function leastOf(
  measure: (attempt: number) => Promise<Figures>,
  limits?: Figures,
  attempts?: number,
): Promise<Measured>;
export declare function report(results: Readonly<Record<string, Measured>>, limits?: Limits): boolean;
