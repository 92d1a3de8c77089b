-- Jurors of whom too few outcomes are known yet for the court's threshold: they earn it on gold (S2.8).
alter type juror_seen add attribute newcomer boolean;
