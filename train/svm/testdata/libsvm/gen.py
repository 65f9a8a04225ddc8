import random
random.seed(1)
def gauss(): return random.gauss(0,1)
def line(y,x):
    return ("%+d "%y)+" ".join("%d:%.4g"%(j+1,v) for j,v in enumerate(x) if v)
def draw(n):
    out=[]
    for _ in range(n):
        y=random.choice([-1,1])
        x=[gauss()+0.5*y if random.random()<0.5 else 0 for _ in range(6)]
        out.append((y,x))
    return out
tr=draw(30)
if tr[0][0]>0: tr[0]=(-1,tr[0][1])
open("train.svm","w").write("\n".join(line(*t) for t in tr)+"\n")
def dot(a,b): return sum(u*v for u,v in zip(a,b))
def p(rows,f):
    open(f,"w").write("\n".join("%+d 0:%d "%(y,i+1)+" ".join("%d:%.17g"%(j+1,dot(x,z)) for j,(_,z) in enumerate(tr)) for i,(y,x) in enumerate(rows))+"\n")
p(tr,"train.pre")
