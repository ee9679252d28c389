// Called in a new process of the fork server before the program begins there; reads the settings of
// the attack.
void BeginAttack(void);
